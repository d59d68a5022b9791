#include "engine/calls/answer.h"

#include <boost/json/serialize.hpp>
#include <cerrno>

#include "base/exact_json.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMaxDepth = 256;        // the runtimes stop at 200
constexpr size_t kMaxText = 256 * 1024;  // of an error's message or traceback
constexpr size_t kMaxImports = 64;
constexpr size_t kOverhead = 1 << 20;  // of an answer beside its values

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return {};
  std::string_view text = value->get_string();
  if (text.size() > kMaxText) {
    size_t end = kMaxText;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not within a character
    text = text.substr(0, end);
  }
  return std::string(text);
}

tl::unexpected<Error> broken(const char* what) {
  return fail(Code::kInternal, std::string("the tool's process broke the answer protocol: ") + what);
}

bool module_name(std::string_view name) {
  if (name.empty() || name.size() > 128 || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name) {
    if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_') return false;
  }
  return true;
}

void read_imports(const json::object& answer, CallResult& result) {
  const json::value* list = answer.if_contains("imports");
  if (list == nullptr || !list->is_array()) return;
  for (const json::value& name : list->get_array()) {
    if (result.imports.size() >= kMaxImports) return;
    if (name.is_string() && module_name(name.get_string())) result.imports.emplace_back(name.get_string());
  }
}

void read_error(const json::object& answer, CallResult& result) {
  const json::value* error = answer.if_contains("error");
  if (error != nullptr && error->is_object()) {
    result.error = {text_of(error->get_object(), "name"), text_of(error->get_object(), "message"),
                    text_of(error->get_object(), "traceback")};
  }
  const json::value* number = answer.if_contains("errno");
  if (number == nullptr || !number->is_int64()) return;
  const std::string limit = limit_of_errno(static_cast<int>(number->get_int64()));
  if (!limit.empty()) result.limits_hit.push_back(limit);
}

void read_value(json::object& answer, AnswerKind kind, CallResult& result) {
  if (json::value* returned = answer.if_contains("return")) result.value = std::move(*returned);
  if (kind == AnswerKind::kPlain) return;
  const json::value* text = answer.if_contains("text");
  if (text == nullptr && result.value.is_string()) text = &result.value;  // a string is its own text
  if (text != nullptr && text->is_string()) result.value_text = std::string(text->get_string());
  json::value* state = answer.if_contains("agent_state");
  if (kind == AnswerKind::kLettaWithState && state != nullptr && state->is_object()) {
    result.agent_state = std::move(*state);
  }
}

json::object encode_letta(const LettaContext& letta) {
  json::object context{{"coerce", letta.coerce}};
  if (letta.properties) context["properties"] = *letta.properties;
  if (!letta.args_json_schema.is_null()) context["args_json_schema"] = letta.args_json_schema;
  if (!letta.agent_state.is_null()) context["agent_state"] = letta.agent_state;
  if (!letta.agent_id.empty()) context["agent_id"] = letta.agent_id;
  return context;
}

}  // namespace

const char* status_name(CallStatus status) {
  switch (status) {
    case CallStatus::kOk: return "ok";
    case CallStatus::kInvalid: return "invalid";
    case CallStatus::kError: return "error";
    case CallStatus::kLimit: return "limit";
    case CallStatus::kTimeout: return "timeout";
  }
  return "error";
}

std::string limit_of_errno(int error) {
  switch (error) {
    case EMFILE: return "open files";
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "disk";
    case ENOMEM: return "memory";
    default: return {};
  }
}

std::string encode_frame(FrameType type, std::string_view payload) {
  std::string frame;
  frame.reserve(kFrameHeader + payload.size());
  const auto size = static_cast<uint32_t>(payload.size());
  for (int shift = 0; shift < 32; shift += 8) frame.push_back(static_cast<char>(size >> shift & 0xff));
  frame.push_back(static_cast<char>(type));
  frame.append(payload);
  return frame;
}

FrameHeader decode_frame_header(const char* bytes) {
  FrameHeader header;
  for (int i = 0; i < 4; ++i) header.size |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  header.type = bytes[4];
  return header;
}

std::string encode_call(const CallSpec& spec, const std::string& nonce) {
  json::object variables;
  for (const auto& [name, value] : spec.variables) variables[name] = value;
  json::object call{
      {"nonce", nonce},         {"source", spec.source},       {"filename", spec.filename},
      {"args", spec.arguments}, {"env", std::move(variables)}, {"max_return_bytes", spec.limits.return_bytes}};
  call["name"] = spec.name.empty() ? json::value(nullptr) : json::value(spec.name);
  if (spec.letta) call["letta"] = encode_letta(*spec.letta);
  return encode_frame(FrameType::kCall, json::serialize(call));
}

AnswerKind answer_kind(const CallSpec& spec) {
  if (!spec.letta) return AnswerKind::kPlain;
  return spec.letta->agent_state.is_null() ? AnswerKind::kLetta : AnswerKind::kLettaWithState;
}

size_t answer_limit(const CallSpec& spec) {
  const size_t parts = spec.letta ? 3 : 1;  // the value, its text, the agent's state
  return parts * spec.limits.return_bytes + kOverhead;
}

Result<void> decode_answer(std::string_view payload, const std::string& nonce, CallResult& result, AnswerKind kind) {
  Result<json::value> parsed = parse_exactly(payload, kMaxDepth);
  if (!parsed) return broken("not JSON");
  json::value& value = *parsed;
  if (!value.is_object()) return broken("not an object");
  json::object& answer = value.get_object();
  if (text_of(answer, "nonce") != nonce) return broken("wrong nonce");
  const std::string status = text_of(answer, "status");
  read_imports(answer, result);
  if (status == "ok") {
    result.status = CallStatus::kOk;
    read_value(answer, kind, result);
    return {};
  }
  if (status != "error" && status != "invalid") return broken("unknown status");
  result.status = status == "invalid" ? CallStatus::kInvalid : CallStatus::kError;
  read_error(answer, result);
  return {};
}

}  // namespace bj
