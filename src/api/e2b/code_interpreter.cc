#include "api/e2b/code_interpreter.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "api/e2b/sandbox_bodies.h"
#include "api/e2b/sandbox_json.h"
#include "api/execution_json.h"
#include "base/ascii_json.h"
#include "control/sandbox_steps.h"
#include "store/sql.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

HttpResponse text(unsigned status, std::string_view sentence) {
  return text_response(status, "text/plain", std::string(sentence));
}

HttpResponse refusal(const Error& error) {
  const unsigned status = status_of(error.code);
  return text(status, status == 500 ? "An unknown error occurred" : error.what);
}

json::object context_json(const InterpreterContext& context) {
  return {{"id", context.id()}, {"language", name_of(context.language())}, {"cwd", context.directory()}};
}

std::string text_at(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

// Written in any case; none is Python.
Result<ContextLanguage> language_of(const std::string& given) {
  return context_language_of(given.empty() ? "python" : lower_case(given));
}

// An empty body is an empty object.
Result<json::object> read_object(const HttpRequest& request) {
  if (request.body.empty()) return json::object();
  boost::system::error_code error;
  json::value parsed = json::parse(request.body, error);
  if (error || !parsed.is_object()) return fail(Code::kInvalid, "The body must be a JSON object");
  return std::move(parsed.get_object());
}

// Strings lose one pair of the quotes that Python's repr() puts around them.
json::object result_line(ExecutionEvent event) {
  json::object line = representations_json(std::move(event.data));
  if (json::value* const shown = line.if_contains("text"); shown != nullptr && shown->is_string()) {
    const std::string_view plain = shown->get_string();
    const bool quoted =
        plain.size() >= 2 && (plain.front() == '\'' || plain.front() == '"') && plain.front() == plain.back();
    if (quoted) *shown = json::string(plain.substr(1, plain.size() - 2));
  }
  line["type"] = "result";
  line["is_main_result"] = event.main;
  return line;
}

json::object line_of(ExecutionEvent event) {
  switch (event.kind) {
    case ExecutionEventKind::kCount: return {{"type", "number_of_executions"}, {"execution_count", event.count}};
    case ExecutionEventKind::kOutput:
      return {{"type", "stdout"}, {"text", std::move(event.text)}, {"timestamp", now_us() * 1000}};
    case ExecutionEventKind::kErrorOutput:
      return {{"type", "stderr"}, {"text", std::move(event.text)}, {"timestamp", now_us() * 1000}};
    case ExecutionEventKind::kResult: return result_line(std::move(event));
    case ExecutionEventKind::kError: break;
    case ExecutionEventKind::kSilence: return {{"type", "keepalive"}};
  }
  json::object line = execution_error_json(event.error);
  if (event.error.name == "ContextDied") line["name"] = "ContextRestarting";  // as E2B calls it
  line["type"] = "error";
  return line;
}

// In ASCII: the JavaScript SDK decodes each piece that comes for itself, wherever the network has cut it.
std::string line_text(const json::object& line) { return ascii_json(json::serialize(line)) + "\n"; }

Task<void> stream(CodeRunner& code, Actor actor, std::shared_ptr<HeldSandbox> sandbox,
                  std::shared_ptr<InterpreterContext> context, Execution execution, BodyWriter& body) {
  const Result<ExecutionEnd> end =
      co_await code.run(std::move(actor), std::move(sandbox), std::move(context), std::move(execution),
                        [&body](ExecutionEvent event) { return body.write(line_text(line_of(std::move(event)))); });
  // Its sandbox ended under it: nobody is to take what came for all there is.
  if (end && end->sandbox_ended) co_return body.abandon();
  std::string last;
  if (!end)
    last = line_text({{"type", "error"}, {"name", "ExecutionAborted"}, {"value", end.error().what}, {"traceback", ""}});
  body.end_with(last + line_text({{"type", "end_of_execution"}}));
}

Result<std::shared_ptr<InterpreterContext>> context_for(const json::object& body, Interpreters& interpreters) {
  const std::string id = text_at(body, "context_id"), language = text_at(body, "language");
  if (!id.empty() && !language.empty()) {
    return fail(Code::kInvalid, "Only one of context_id or language can be provided");
  }
  if (!id.empty() && id != "default") return interpreters.find(id);
  BJ_TRY(const ContextLanguage chosen, language_of(language));
  return interpreters.usual(chosen);
}

Result<HttpResponse> execute(const HttpRequest& request, const std::shared_ptr<HeldSandbox>& sandbox,
                             CodeRunner& code) {
  BJ_TRY(const json::object body, read_object(request));
  BJ_TRY(const auto context, context_for(body, sandbox->live->interpreters()));
  auto execution = std::make_shared<Execution>();
  execution->environment = own_variables(sandbox->row);
  for (const auto& [name, value] : sandbox->live->environment()) execution->environment.erase(name);
  execution->code = text_at(body, "code");
  if (const json::value* const variables = body.if_contains("env_vars");
      variables != nullptr && variables->is_object()) {
    for (const auto& [name, value] : variables->get_object()) {
      if (!value.is_string()) return fail(Code::kInvalid, "env_vars must be texts");
      execution->environment[std::string(name)] = std::string(value.get_string());
    }
  }
  HttpResponse response = text_response(200, "application/x-ndjson", "");
  response.stream = [&code, actor = owner_of(sandbox->row), sandbox, context, execution](BodyWriter& writer) {
    return stream(code, actor, sandbox, context, std::move(*execution), writer);
  };
  return response;
}

Task<Result<HttpResponse>> create(HttpRequest& request, Interpreters& interpreters) {
  BJ_CO_TRY(const json::object body, read_object(request));
  const std::string language = text_at(body, "language");
  BJ_CO_TRY(const ContextLanguage chosen, language_of(language));
  BJ_CO_TRY(const auto context, co_await interpreters.create(chosen, text_at(body, "cwd")));
  co_return json_response(200, context_json(*context));
}

HttpResponse list(Interpreters& interpreters) {
  json::array contexts;
  for (const auto& context : interpreters.all()) contexts.push_back(context_json(*context));
  return json_response(200, contexts);
}

// /contexts/{id} and /contexts/{id}/restart.
Task<Result<HttpResponse>> change(Method method, std::string rest, Interpreters& interpreters) {
  constexpr std::string_view kRestart = "/restart";
  const bool restart = method == Method::kPost && rest.ends_with(kRestart);
  if (restart) rest.resize(rest.size() - kRestart.size());
  BJ_CO_TRY(const auto context, interpreters.find(rest));
  if (restart) {
    BJ_CO_CHECK(co_await context->restart());
    co_return empty_response();
  }
  if (method == Method::kGet) co_return json_response(200, context_json(*context));
  if (method != Method::kDelete) co_return text(405, "Method Not Allowed");
  BJ_CO_CHECK(interpreters.remove(rest));
  co_return empty_response();
}

Task<Result<HttpResponse>> dispatch(HttpRequest& request, std::shared_ptr<HeldSandbox> sandbox, CodeRunner& code) {
  constexpr std::string_view kContexts = "/contexts";
  Interpreters& interpreters = sandbox->live->interpreters();
  const std::string path = request.path.substr(0, request.path.find('?'));
  if (path == "/health" && request.method == Method::kGet) co_return json_response(200, json::value("OK"));
  if (path == "/execute" && request.method == Method::kPost) co_return execute(request, sandbox, code);
  if (path == kContexts && request.method == Method::kGet) co_return list(interpreters);
  if (path == kContexts && request.method == Method::kPost) co_return co_await create(request, interpreters);
  if (path.starts_with(std::string(kContexts) + "/")) {
    co_return co_await change(request.method, path.substr(kContexts.size() + 1), interpreters);
  }
  co_return text(404, "Not Found");
}

}  // namespace

Task<HttpResponse> answer_code_interpreter(HttpRequest& request, std::shared_ptr<HeldSandbox> sandbox,
                                           CodeRunner& code) {
  Result<HttpResponse> answer = co_await dispatch(request, std::move(sandbox), code);
  co_return answer ? std::move(*answer) : refusal(answer.error());
}

}  // namespace bj::e2b
