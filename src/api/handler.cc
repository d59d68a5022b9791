#include "api/handler.h"

#include <charconv>

#include "base/id.h"
#include "base/log.h"

namespace bj {
namespace {

constexpr int64_t kMostPerPage = 10'000;

tl::unexpected<Error> wrong_query(std::string_view name, const std::string& rest) {
  return fail(Code::kUnprocessable, "the query parameter \"" + std::string(name) + "\" " + rest);
}

Result<std::optional<int64_t>> limit_of(const HttpRequest& request, int64_t usual) {
  const std::string* const text = request.query.find("limit");
  if (text == nullptr) return usual;
  int64_t limit = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (bad != std::errc() || end != text->data() + text->size() || limit < 0 || limit > kMostPerPage) {
    return wrong_query("limit", "must be a whole number from 0 to " + std::to_string(kMostPerPage));
  }
  return limit;
}

}  // namespace

Handler answering(FallibleHandler handler) {
  return [handler = std::move(handler)](HttpRequest& request) -> Task<HttpResponse> {
    Result<HttpResponse> answer = co_await handler(request);
    if (answer) co_return std::move(*answer);
    const Error& error = answer.error();
    if (error.code == Code::kInternal) log_error("request_failed", {{"request_id", request.id}, {"error", error.what}});
    if (error.code == Code::kUnprocessable) co_return validation_error(request, error.what);
    co_return error_response(error);
  };
}

Result<std::string> id_of(const HttpRequest& request, std::string_view parameter, std::string_view prefix) {
  const std::string& id = request.parameter(parameter);
  if (is_id(prefix, id)) return id;
  const std::string kind(prefix);
  return fail(Code::kUnprocessable, "\"" + std::string(parameter) + "\" must be " + kind + "-<uuid4>, such as " + kind +
                                        "-123e4567-e89b-42d3-8456-426614174000");
}

Result<Page> page_of(const HttpRequest& request, int64_t usual_limit, Order usual_order) {
  Page page;
  BJ_TRY(page.limit, limit_of(request, usual_limit));
  page.after = query_text(request, "after");
  page.before = query_text(request, "before");
  page.order = usual_order;
  if (const std::string* const order = request.query.find("order")) {
    if (*order != "asc" && *order != "desc") return wrong_query("order", "must be asc or desc");
    page.order = *order == "asc" ? Order::kAscending : Order::kDescending;
  }
  return page;
}

std::vector<std::string> list_of(const HttpRequest& request, std::string_view name) {
  std::vector<std::string> items;
  for (const std::string& value : request.query.all(name)) {
    size_t start = 0;
    while (start <= value.size()) {
      const size_t comma = std::min(value.find(',', start), value.size());
      if (comma > start) items.push_back(value.substr(start, comma - start));
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
  const std::string* const value = request.query.find(name);
  if (value == nullptr || *value == "false" || *value == "0") return false;
  if (*value == "true" || *value == "1") return true;
  return wrong_query(name, "must be true or false");
}

std::vector<ParameterDoc> page_parameters() {
  const auto text = [](const char* name, const char* what) {
    ParameterDoc doc;
    doc.name = name;
    doc.description = what;
    return doc;
  };
  ParameterDoc limit = text("limit", "How many at most.");
  limit.schema = {{"type", "integer"}, {"minimum", 0}, {"maximum", kMostPerPage}};
  ParameterDoc order = text("order", "By time of creation.");
  order.schema = {{"type", "string"}, {"enum", {"asc", "desc"}}};
  return {limit, order, text("after", "The id after which the page begins."),
          text("before", "The id before which the page ends.")};
}

}  // namespace bj
