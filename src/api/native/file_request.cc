#include "api/native/file_request.h"

namespace bj::native {

Result<FileTarget> file_target(const HttpRequest& request) {
  FileTarget target;
  const std::string* const path = request.query.find("path");
  if (path == nullptr || path->empty()) return fail(Code::kUnprocessable, "the query parameter \"path\" is missing");
  target.path = *path;
  target.user = query_text(request, "user").value_or("");
  return target;
}

Error from_inside(Error error) {
  if (error.code == Code::kInternal && error.sys == EEXIST) error.code = Code::kConflict;
  if (error.code == Code::kInternal && error.sys != 0) error.code = Code::kInvalid;
  return error;
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
