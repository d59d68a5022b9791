#include "engine/interpreters/context_messages.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "base/exact_json.h"
#include "engine/calls/answer.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr char kFrameType = 'J';
constexpr size_t kMaxDepth = 128;  // the runtimes stop at 100
constexpr size_t kMaxText = 256 * 1024;
constexpr size_t kMaxRepresentations = 32;
constexpr size_t kMaxTypeName = 128;

struct NamedOp {
  std::string_view name;
  ContextOp op;
};
constexpr std::array<NamedOp, 7> kOps = {{{"ready", ContextOp::kReady},
                                          {"count", ContextOp::kCount},
                                          {"result", ContextOp::kResult},
                                          {"error", ContextOp::kError},
                                          {"done", ContextOp::kDone},
                                          {"checkpointed", ContextOp::kCheckpointed},
                                          {"refused", ContextOp::kRefused}}};

tl::unexpected<Error> broken(const char* what) {
  return fail(Code::kInternal, std::string("the context broke its protocol: ") + what);
}

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return {};
  std::string_view text = value->get_string();
  size_t end = std::min(text.size(), kMaxText);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

int64_t number_of(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains(key);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

Result<json::object> data_of(json::object& message) {
  json::value* const data = message.if_contains("data");
  if (data == nullptr || !data->is_object()) return broken("a result without data");
  json::object& types = data->get_object();
  if (types.size() > kMaxRepresentations) return broken("a result in too many forms");
  for (const auto& item : types) {
    if (item.key().empty() || item.key().size() > kMaxTypeName) return broken("a result of a type that is none");
  }
  return std::move(types);
}

// In single quotes, as a shell takes anything but NUL.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (c != '\0') {
      out += c;
    }
  }
  return out + "'";
}

std::string encode_for_shell(const Execution& execution, const std::string& nonce) {
  std::string line = "__belljar_begin " + nonce;
  for (const auto& [name, value] : execution.environment) line += " " + quoted(name + "=" + value);
  return line + "; eval " + quoted(execution.code) + " </dev/null 3>&-\n__belljar_end\n__belljar_end\n";
}

}  // namespace

const char* name_of(ContextLanguage language) {
  static constexpr std::array<const char*, 4> kNames = {"python", "javascript", "typescript", "bash"};
  return kNames[static_cast<size_t>(language)];
}

Result<ContextLanguage> context_language_of(std::string_view name) {
  if (name == "python" || name == "python3") return ContextLanguage::kPython;
  if (name == "javascript" || name == "js") return ContextLanguage::kJavaScript;
  if (name == "typescript" || name == "ts") return ContextLanguage::kTypeScript;
  if (name == "bash" || name == "sh") return ContextLanguage::kBash;
  return fail(Code::kInvalid, "there is no interpreter for \"" + std::string(name.substr(0, 32)) +
                                  "\": contexts are of python, javascript, typescript or bash");
}

Result<ContextMessage> decode_context_message(std::string_view payload) {
  Result<json::value> parsed = parse_exactly(payload, kMaxDepth);
  if (!parsed || !parsed->is_object()) return broken("not a JSON object");
  json::object& object = parsed->get_object();
  ContextMessage message;
  const std::string op = text_of(object, "op");
  const auto* const named =
      std::find_if(kOps.begin(), kOps.end(), [&op](const NamedOp& one) { return one.name == op; });
  if (named == kOps.end()) return broken("an unknown message");
  message.op = named->op;
  message.nonce = text_of(object, "nonce");
  message.count = number_of(object, "count");
  message.status = number_of(object, "status");
  message.reason = text_of(object, "reason");
  message.error = {text_of(object, "name"), text_of(object, "value"), text_of(object, "traceback")};
  if (message.op == ContextOp::kReady) {
    const int64_t pid = number_of(object, "pid");
    if (pid <= 1 || pid > INT32_MAX) return broken("a process that can't be");
    message.pid = static_cast<int>(pid);
  }
  if (message.op == ContextOp::kResult) {
    const json::value* const main = object.if_contains("main");
    message.main = main != nullptr && main->is_bool() && main->get_bool();
    BJ_TRY(message.data, data_of(object));
  }
  return message;
}

Result<void> ContextFrames::feed(std::string_view bytes) {
  partial_.append(bytes);
  size_t start = 0;
  while (partial_.size() - start >= kFrameHeader) {
    const FrameHeader header = decode_frame_header(partial_.data() + start);
    if (header.type != kFrameType) return broken("an unknown frame");
    if (header.size > kMaxContextMessage) return broken("a frame that is too large");
    if (partial_.size() - start - kFrameHeader < header.size) break;
    whole_.push_back(partial_.substr(start + kFrameHeader, header.size));
    start += kFrameHeader + header.size;
  }
  partial_.erase(0, start);
  return {};
}

std::string ContextFrames::next() {
  std::string frame = std::move(whole_.front());
  whole_.pop_front();
  return frame;
}

std::string encode_context_message(const json::object& message) {
  return encode_frame(static_cast<FrameType>(kFrameType), json::serialize(message));
}

std::string encode_execution(ContextLanguage language, const Execution& execution, const std::string& nonce) {
  if (language == ContextLanguage::kBash) return encode_for_shell(execution, nonce);
  json::object variables;
  for (const auto& [name, value] : execution.environment) variables[name] = value;
  return encode_context_message(
      {{"op", "execute"}, {"nonce", nonce}, {"code", execution.code}, {"env", std::move(variables)}});
}

}  // namespace bj
