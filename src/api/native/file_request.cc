#include "api/native/file_request.h"

#include <charconv>

namespace bj::native {
namespace {

constexpr unsigned kUsualMode = 0644;

}  // namespace

Result<FileTarget> file_target(const HttpRequest& request) {
  FileTarget target;
  const std::string* const path = request.query.find("path");
  if (path == nullptr || path->empty()) return fail(Code::kUnprocessable, "the query parameter \"path\" is missing");
  target.path = *path;
  target.user = query_text(request, "user").value_or("");
  return target;
}

Result<unsigned> file_mode(const HttpRequest& request) {
  const MaybeText text = query_text(request, "mode");
  if (!text) return kUsualMode;
  unsigned mode = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), mode, 8);
  if (bad != std::errc() || end != text->data() + text->size() || mode > 0777)
    return fail(Code::kUnprocessable, "\"mode\" must be an octal number from 0 to 777");
  return mode;
}

std::vector<ParameterDoc> file_parameters() {
  ParameterDoc path;
  path.name = "path";
  path.description = "Where inside; relative to the user's home.";
  path.required = true;
  ParameterDoc user;
  user.name = "user";
  user.description = "As whom inside; the sandbox's user if it is left out.";
  return {path, user};
}

}  // namespace bj::native
