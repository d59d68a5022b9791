#include "tools/schema_deriver.h"

#include "engine/embedded.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr uint64_t kMostTime_ms = 20'000;

CallSpec deriving_call(SchemaQuestion question) {
  CallSpec call;
  call.source = std::string(embedded_schema_tool());
  call.filename = "schema_tool.py";
  call.name = "derive";
  call.limits.wall_ms = kMostTime_ms;
  call.arguments = {{"source", std::move(question.source)},
                    {"source_type", std::move(question.source_type)},
                    {"name", question.name.empty() ? json::value(nullptr) : json::value(question.name)},
                    {"args_json_schema", std::move(question.args_json_schema)}};
  return call;
}

}  // namespace

Task<Result<json::object>> SchemaDeriver::derive(SchemaQuestion question) {
  const char* const told = question.purpose == SchemaFor::kTool ? "detail" : "message";
  CallSpec call = deriving_call(std::move(question));
  BJ_CO_TRY(call.environment.image, engine_.templates().find(template_name_));
  call.environment.interpreter = interpreter_;
  call.environment.preload = {"ast", "re", "json"};  // a zygote of its own: tools' have fewer pages without these
  BJ_CO_TRY(CallResult result, co_await engine_.call(std::move(call)));
  const json::object* const answer = result.value.if_object();
  if (result.status != CallStatus::kOk || answer == nullptr) {
    co_return fail(Code::kInvalid, "Failed to derive json schema: " + result.error.name + ": " + result.error.message);
  }
  if (const json::value* const schema = answer->if_contains("schema"); schema != nullptr && schema->is_object()) {
    co_return schema->get_object();
  }
  const json::value* const error = answer->if_contains("error");
  const json::value* const message =
      error != nullptr && error->is_object() ? error->get_object().if_contains(told) : nullptr;
  co_return fail(Code::kInvalid, message != nullptr && message->is_string() ? std::string(message->get_string())
                                                                            : "Failed to derive json schema");
}

}  // namespace bj
