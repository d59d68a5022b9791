#include "api/native/file_request.h"

#include <algorithm>
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

// ".." stays: behind a link it leads elsewhere than the text says. So does a slash at the end: it follows a link.
std::string plain_path(std::string_view path) {
  const bool absolute = path.starts_with("/");
  const bool at_home = path == "~" || path.starts_with("~/");
  const bool into = path == "." || path.ends_with("/") || path.ends_with("/.");
  std::string plain;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    at = end + 1;
    if (!part.empty() && part != ".") plain.append("/").append(part);
  }
  if (into || plain.empty()) plain += "/";
  if (absolute) return plain;
  return at_home ? plain.substr(1) : "~" + plain;
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
