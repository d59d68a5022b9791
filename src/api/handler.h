// How handlers of every protocol are written: as functions that may fail. One place turns failures into answers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/async.h"
#include "server/router.h"
#include "store/rows.h"
#include "tools/model_reader.h"

namespace bj {

using FallibleHandler = std::function<Task<Result<HttpResponse>>(HttpRequest&)>;
Handler answering(FallibleHandler handler);

// A request's body read as a model. All that is wrong with it is told at once (422).
template <class Read>
auto read_body(const HttpRequest& request, UnknownKeys unknown, Read read)
    -> Result<std::invoke_result_t<Read, ModelReader&>> {
  FieldErrors errors;
  if (const std::optional<boost::json::value> body = read_json_body(request.body, errors)) {
    ModelReader reader(*body, {"body"}, errors);
    auto model = read(reader);
    reader.finish(unknown);
    if (errors.empty()) return model;
  }
  return fail(Code::kUnprocessable, field_errors_repr(errors));
}

// The same with a reader of the whole body.
template <class Model>
Result<Model> read_body(const HttpRequest& request, Model (*read)(const boost::json::value&, FieldErrors&)) {
  FieldErrors errors;
  if (const std::optional<boost::json::value> body = read_json_body(request.body, errors)) {
    Model model = read(*body, errors);
    if (errors.empty()) return model;
  }
  return fail(Code::kUnprocessable, field_errors_repr(errors));
}

// A path parameter that must be "<prefix>-<uuid4>".
Result<std::string> id_of(const HttpRequest& request, std::string_view parameter, std::string_view prefix);

// ?limit=&after=&before=&order= as lists of every protocol take them.
Result<Page> page_of(const HttpRequest& request, int64_t usual_limit, Order usual_order);
// Repeated or separated by commas.
std::vector<std::string> list_of(const HttpRequest& request, std::string_view name);
MaybeText query_text(const HttpRequest& request, std::string_view name);
Result<bool> query_flag(const HttpRequest& request, std::string_view name);

// For documentation.
std::vector<ParameterDoc> page_parameters();

}  // namespace bj
