#include "tools/remote_script.h"

#include <fmt/format.h>

#include "tools/base64.h"
#include "tools/python_text.h"
#include "tools/result_frame.h"
#include "tools/typescript_source.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMaxName = 256;

// The script's own names stay inside functions; the tool runs in a module of its own.
constexpr std::string_view kPythonBody = R"PY(
def _belljar_client():
    import os
    key = os.environ.get("LETTA_API_KEY")
    try:
        from letta_client import Letta
        import letta_client
    except Exception:
        return None
    if not key:
        return None
    old = str(getattr(letta_client, "__version__", "1.0.0")).startswith("0.")
    return Letta(token=key) if old else Letta(api_key=key)


def _belljar_plain(value):
    import dataclasses
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, dict):
        return {key: _belljar_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_belljar_plain(item) for item in value]
    return value


def _belljar_await(value):
    import asyncio, inspect, threading
    if not inspect.isawaitable(value):
        return value
    async def wait():
        return await value
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    outcome = {}
    def run():
        try:
            outcome["value"] = asyncio.run(wait())
        except BaseException as error:
            outcome["error"] = error
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


def _belljar_run(call):
    import inspect, json, types
    module = types.ModuleType("__main__")
    module.client = _belljar_client()
    space = types.SimpleNamespace
    state = json.loads(json.dumps(call["agent_state"]), object_hook=lambda item: space(**item))
    exec(compile(call["source"], "<tool>", "exec"), module.__dict__)
    function = module.__dict__.get(call["name"])
    if function is None:
        raise NameError("name %r is not defined" % call["name"])
    arguments = dict(call["args"])
    names = inspect.signature(function).parameters
    if "agent_state" in names:
        arguments["agent_state"] = state
    if "agent_id" in names:
        arguments["agent_id"] = call["agent_id"]
    result = _belljar_plain(_belljar_await(function(**arguments)))
    after = json.loads(json.dumps(state, default=vars)) if "agent_state" in names else None
    return json.dumps({"results": result, "agent_state": after, "nonce": call["nonce"]}, default=str)
)PY";

constexpr std::string_view kPythonFrame = R"PY(

def _belljar_write(payload):
    import hashlib, struct, sys
    marker = bytes.fromhex("92c8e49843d35fb3919da69eb3e5c5c6")
    sys.stdout.flush()
    sys.stdout.buffer.write(marker + struct.pack(">I", len(payload)))
    sys.stdout.buffer.write(hashlib.md5(payload).hexdigest().encode() + payload)
    sys.stdout.buffer.flush()


_belljar_write(_belljar_run(_belljar_call()).encode())
)PY";

constexpr std::string_view kPythonExpression = R"PY(

__import__("base64").b64encode(_belljar_run(_belljar_call()).encode()).decode()
)PY";

constexpr std::string_view kTypescriptClient = R"TS(let client: any = null;
try {
  const { LettaClient } = await import("@letta-ai/letta-client");
  if (process.env.LETTA_API_KEY) client = new LettaClient({ apiKey: process.env.LETTA_API_KEY } as any);
} catch {}
)TS";

bool identifier(std::string_view name) {
  if (name.empty() || name.size() > kMaxName || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
    if (!letter && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

Result<void> check_name(std::string_view name) {
  if (identifier(name)) return {};
  return fail(Code::kInvalid, "a remote tool's name must be an identifier, not " + python_repr(name));
}

const json::object* schema_of(const RemoteCall& call) { return call.json_schema ? &*call.json_schema : nullptr; }

// Without a schema everything is passed on.
json::object known_arguments(const RemoteCall& call) {
  const json::value* parameters = call.json_schema ? call.json_schema->if_contains("parameters") : nullptr;
  const json::value* properties =
      parameters != nullptr && parameters->is_object() ? parameters->get_object().if_contains("properties") : nullptr;
  if (properties == nullptr || !properties->is_object()) return call.arguments;
  json::object known;
  for (const auto& [name, value] : call.arguments) {
    if (properties->get_object().contains(name)) known[name] = value;
  }
  return known;
}

}  // namespace

Result<std::string> python_script(const RemoteCall& call, RemoteAnswer answer) {
  BJ_CHECK(check_name(call.name));
  const json::object data{{"name", call.name},
                          {"source", call.source},
                          {"args", known_arguments(call)},
                          {"agent_id", call.agent_id ? json::value(*call.agent_id) : json::value(nullptr)},
                          {"agent_state", call.agent_state},
                          {"nonce", call.nonce}};
  return fmt::format(
      "def _belljar_call():\n    import base64, json\n    return json.loads(base64.b64decode(\"{}\"))\n\n{}{}",
      base64_encode(python_json(data)), kPythonBody, answer == RemoteAnswer::kFrame ? kPythonFrame : kPythonExpression);
}

Result<std::string> typescript_script(const RemoteCall& call) {
  BJ_CHECK(check_name(call.name));
  const TypescriptParts parts = take_apart(call.source, ExportRemoval::kStatements);
  json::array values;
  json::array given;
  for (const std::string& name : call_order_with_gaps(call.arguments, schema_of(call))) {
    const json::value* value = call.arguments.if_contains(name);
    given.emplace_back(value != nullptr);
    values.push_back(value == nullptr ? json::value(nullptr) : *value);
  }
  const json::object data{{"values", values}, {"given", given}, {"nonce", call.nonce}};
  std::string script;
  for (const std::string& line : parts.imports) script += line + "\n";
  script += kTypescriptClient;
  script += parts.body + "\n";
  script += fmt::format("const _belljar = JSON.parse(Buffer.from(\"{}\", \"base64\").toString(\"utf8\"));\n",
                        base64_encode(python_json(data)));
  script += fmt::format(
      "const _result = await ({} as any)(..._belljar.values.map((value: any, i: number) => _belljar.given[i] ? value : "
      "undefined));\n",
      call.name);
  script += "JSON.stringify({ results: _result ?? null, agent_state: null, nonce: _belljar.nonce })\n";
  return script;
}

}  // namespace bj
