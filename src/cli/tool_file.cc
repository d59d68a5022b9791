#include "cli/tool_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/exact_json.h"
#include "base/utf8.h"
#include "cli/sizes.h"
#include "sys/files.h"
#include "sys/names.h"

namespace bj {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr size_t kDeepestArguments = 200;

tl::unexpected<Error> unreadable(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) return fail(Code::kNotFound, "there is no file \"" + path + "\"");
  return fail(Code::kInvalid, "\"" + path + "\" can't be read: " + std::strerror(error));
}

// O_NONBLOCK: a FIFO must not keep us; it is refused as what it is.
Result<std::string> read_regular(const std::string& path, uint64_t limit_bytes) {
  Result<Fd> file = open_path(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return unreadable(path, file.error().sys);
  BJ_TRY(const struct stat info, status_at(file->get(), ""));
  if (S_ISDIR(info.st_mode)) return fail(Code::kInvalid, "\"" + path + "\" is a directory, not a file");
  if (!S_ISREG(info.st_mode)) return fail(Code::kInvalid, "\"" + path + "\" is not a regular file");
  if (static_cast<uint64_t>(info.st_size) > limit_bytes) {
    return fail(Code::kInvalid,
                fmt::format("\"{}\" has {}; the limit is {} (--argument-size)", path,
                            format_size(static_cast<uint64_t>(info.st_size)), format_size(limit_bytes)));
  }
  return read_all(file->get(), limit_bytes, path);
}

Result<json::object> parse_arguments(std::string_view text, const std::string& where) {
  Result<json::value> parsed = parse_exactly(text, kDeepestArguments);
  if (!parsed) return fail(Code::kInvalid, fmt::format("{} are not valid JSON: {}", where, parsed.error().what));
  json::value& value = *parsed;
  if (!value.is_object()) {
    return fail(Code::kInvalid,
                fmt::format("{} must be a JSON object, one key a parameter: {{\"city\": \"Oslo\"}}", where));
  }
  return std::move(value.get_object());
}

bool holds_packages(const fs::path& directory) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string extension = entry.path().extension();
    if (extension == ".dist-info" || extension == ".egg-info" || extension == ".py") return true;
    if (fs::exists(entry.path() / "__init__.py", error)) return true;
  }
  return false;
}

}  // namespace

Result<Language> language_of(const std::string& path) {
  static constexpr std::array<std::string_view, 6> kTypeScript = {".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"};
  const std::string extension = fs::path(path).extension();
  if (extension == ".py") return Language::kPython;
  if (std::find(kTypeScript.begin(), kTypeScript.end(), extension) != kTypeScript.end()) return Language::kTypeScript;
  return fail(Code::kInvalid,
              "\"" + path +
                  "\" is neither Python nor TypeScript: a tool's file ends in .py, .ts, .mts, .cts, .js, .mjs or .cjs");
}

Result<std::string> read_tool(const std::string& path, uint64_t limit_bytes) {
  BJ_TRY(std::string source, read_regular(path, limit_bytes));
  if (source.find('\0') != std::string::npos)
    return fail(Code::kInvalid, "\"" + path + "\" is a binary file, not source text");
  if (!is_utf8(source)) return fail(Code::kInvalid, "\"" + path + "\" is not UTF-8 text");
  if (source.starts_with("\xef\xbb\xbf")) source.erase(0, 3);
  return source;
}

Result<json::object> read_arguments(const std::string& text, uint64_t limit_bytes) {
  if (text.empty()) return json::object();
  if (text == "-") {
    const Result<std::string> input = read_all(STDIN_FILENO, limit_bytes, "stdin");
    if (!input && input.error().sys == 0) {
      return fail(Code::kInvalid,
                  fmt::format("the arguments on stdin are longer than the limit of {} (--argument-size)",
                              format_size(limit_bytes)));
    }
    if (!input) return fail(Code::kInvalid, "the arguments on stdin can't be read: " + input.error().what);
    return parse_arguments(*input, "the arguments on stdin");
  }
  if (!text.starts_with("@")) return parse_arguments(text, "the arguments (--args)");
  const std::string path = text.substr(1);
  BJ_TRY(const std::string input, read_regular(path, limit_bytes));
  return parse_arguments(input, "the arguments in \"" + path + "\"");
}

Result<std::string> packages_directory(const std::string& path) {
  std::error_code error;
  const fs::path root = fs::canonical(path, error);
  if (error || !fs::is_directory(root, error))
    return fail(Code::kNotFound, "there is no directory \"" + path + "\" (--venv)");
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(root / "lib", error)) {
    const fs::path site = entry.path() / "site-packages";
    if (entry.path().filename().string().starts_with("python3") && fs::is_directory(site, error)) found.push_back(site);
  }
  if (found.size() > 1) {
    return fail(Code::kInvalid,
                "\"" + path + "\" holds packages of several Pythons: name one, e.g. --venv " + found.front().string());
  }
  if (found.size() == 1) return found.front().string();
  if (holds_packages(root)) return root.string();
  return fail(
      Code::kInvalid,
      "\"" + path + "\" is neither a virtual environment (lib/python3*/site-packages) nor a directory with packages");
}

std::vector<std::string> system_packages() {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/local/lib", error)) {
    const fs::path packages = entry.path() / "dist-packages";
    if (entry.path().filename().string().starts_with("python3.") && fs::is_directory(packages, error))
      found.push_back(packages);
  }
  std::sort(found.begin(), found.end());
  if (fs::is_directory("/usr/lib/python3/dist-packages", error)) found.emplace_back("/usr/lib/python3/dist-packages");
  return found;
}

}  // namespace bj
