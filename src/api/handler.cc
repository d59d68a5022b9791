#include "api/handler.h"

#include <algorithm>
#include <limits>

#include "base/id.h"
#include "base/log.h"
#include "tools/code_points.h"

namespace bj {
namespace {

constexpr int64_t kMostPerPage = 10'000;
constexpr const char* kExampleUuid = "-123e4567-e89b-42d3-8456-426614174000";

// The query's parameters as a model's fields: the same rules and words as for bodies. The first of a name counts.
template <class Read>
auto read_query(const HttpRequest& request, std::initializer_list<std::string_view> names, const Read& read)
    -> Result<decltype(read(std::declval<ModelReader&>()))> {
  boost::json::object given;
  for (const std::string_view name : names) {
    if (const std::string* const text = request.query.find(name)) given[name] = *text;
  }
  const boost::json::value fields = std::move(given);
  FieldErrors errors;
  ModelReader reader(fields, {"query"}, errors);
  auto value = read(reader);
  if (!errors.empty()) return fail(Code::kUnprocessable, field_errors_repr(errors));
  return value;
}

// With an example of each id in the path that is none.
HttpResponse unprocessable(const HttpRequest& request, const std::string& what) {
  boost::json::array examples;
  for (const char* const kind : {"agent", "block", "tool"}) {
    const std::string* const id = request.path_parameters.find(std::string(kind) + "_id");
    if (id != nullptr && !is_id(kind, *id)) examples.emplace_back(std::string(kind) + kExampleUuid);
  }
  if (examples.empty()) return validation_error(request, what);
  return json_response(422, {{"trace_id", request.id}, {"detail", what}, {"examples", std::move(examples)}});
}

}  // namespace

Handler answering(FallibleHandler handler) {
  return [handler = std::move(handler)](HttpRequest& request) -> Task<HttpResponse> {
    Result<HttpResponse> answer = co_await handler(request);
    if (answer) co_return std::move(*answer);
    const Error& error = answer.error();
    if (error.code == Code::kInternal) log_error("request_failed", {{"request_id", request.id}, {"error", error.what}});
    if (error.code == Code::kUnprocessable) co_return unprocessable(request, error.what);
    co_return error_response(error);
  };
}

Result<std::string> id_of(const HttpRequest& request, std::string_view parameter, std::string_view prefix) {
  const std::string& id = request.parameter(parameter);
  if (is_id(prefix, id)) return id;
  const std::string kind(prefix);
  return fail(Code::kUnprocessable,
              "\"" + std::string(parameter) + "\" must be " + kind + "-<uuid4>, such as " + kind + kExampleUuid);
}

Result<Page> page_of(const HttpRequest& request, int64_t usual_limit, Order usual_order) {
  const auto read = [&](ModelReader& reader) {
    Page page;
    page.limit =
        std::min(reader.integer_or("limit", usual_limit, {0, std::numeric_limits<int64_t>::max()}), kMostPerPage);
    const char* const usual = usual_order == Order::kAscending ? "asc" : "desc";
    page.order = reader.choice_or("order", usual, {"asc", "desc"}) == "asc" ? Order::kAscending : Order::kDescending;
    (void)reader.choice_or("order_by", "created_at", {"created_at"});
    return page;
  };
  BJ_TRY(Page page, read_query(request, {"limit", "order", "order_by"}, read));
  page.after = query_text(request, "after");
  page.before = query_text(request, "before");
  return page;
}

std::vector<std::string> list_of(const HttpRequest& request, std::string_view name) {
  std::vector<std::string> items;
  for (const std::string& value : request.query.all(name)) {
    size_t start = 0;
    while (start <= value.size()) {
      const size_t comma = std::min(value.find(',', start), value.size());
      const std::string_view item = python_strip(std::string_view(value).substr(start, comma - start));
      if (!item.empty()) items.emplace_back(item);
      start = comma + 1;
    }
  }
  return items;
}

MaybeText query_text(const HttpRequest& request, std::string_view name) {
  const std::string* const value = request.query.find(name);
  return value == nullptr || value->empty() ? MaybeText() : MaybeText(*value);
}

Result<bool> query_flag(const HttpRequest& request, std::string_view name) {
  return read_query(request, {name}, [name](ModelReader& reader) { return reader.boolean_or(name, false); });
}

std::vector<ParameterDoc> page_parameters() {
  const auto text = [](const char* name, const char* what) {
    ParameterDoc doc;
    doc.name = name;
    doc.description = what;
    return doc;
  };
  ParameterDoc limit = text("limit", "How many at most; 10,000 in any case.");
  limit.schema = {{"type", "integer"}, {"minimum", 0}};
  ParameterDoc order = text("order", "By time of creation.");
  order.schema = {{"type", "string"}, {"enum", {"asc", "desc"}}};
  return {limit, order, text("after", "The id after which the page begins."),
          text("before", "The id before which the page ends.")};
}

}  // namespace bj
