#include "api/native/file_request.h"

#include <algorithm>
#include <charconv>

namespace bj::native {
namespace {

constexpr unsigned kUsualMode = 0644;
constexpr uint64_t kLargestUpload = uint64_t{1}
                                    << 40;  // the disk limit of the sandbox, or the volume's size, comes first

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

RouteExtras file_extras(std::initializer_list<const char*> names) {
  RouteExtras extras{Access::kByMethod, file_parameters()};
  for (const char* name : names) {
    ParameterDoc doc;
    doc.name = name;
    extras.parameters.push_back(doc);
  }
  return extras;
}

RouteOptions reading_route(const char* tag) {
  RouteOptions options;
  options.doc.tag = tag;
  options.doc.summary = "A file's contents; Range gives a part";
  options.doc.response_type = "application/octet-stream";
  options.doc.parameters = file_parameters();
  return options;
}

RouteOptions writing_route(const char* tag) {
  RouteOptions options;
  options.doc.tag = tag;
  options.doc.summary = "Write a file, and the directories above it; ?append=true adds to its end";
  options.doc.response_type = "application/json";
  options.doc.response_schema = boost::json::object{{"type", "object"}};
  options.doc.parameters = file_extras({"mode", "append"}).parameters;
  options.body = BodyKind::kStreamed;
  options.body_limit = kLargestUpload;
  return options;
}

}  // namespace bj::native
