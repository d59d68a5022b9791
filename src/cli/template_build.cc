#include "cli/template_build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdio>
#include <filesystem>

#include "cli/context.h"
#include "cli/ignore_rules.h"
#include "cli/json_output.h"
#include "cli/network_flag.h"
#include "cli/settings.h"
#include "cli/sizes.h"
#include "cli/terminal.h"
#include "control/dockerfile.h"
#include "control/template_manifests.h"
#include "engine/import/import_digest.h"
#include "sys/files.h"
#include "sys/program.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kLongestText = 1 << 20;

std::string text_at(const json::value& object, std::string_view key) {
  const json::value* const found = object.is_object() ? object.get_object().if_contains(key) : nullptr;
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

Result<std::string> text_of(const TemplateBuildFlags& flags) {
  if (!flags.manifest.empty()) {
    const auto& known = template_manifests();
    const auto found = known.find(flags.manifest);
    if (found != known.end()) return found->second;
    std::string names;
    for (const auto& [name, text] : known) names += (names.empty() ? "" : ", ") + name;
    return fail(Code::kInvalid, "there is no manifest \"" + flags.manifest + "\": " + names + " are");
  }
  if (!flags.file.empty()) return read_file(flags.file, kLongestText);
  Result<std::string> text = read_file(flags.directory + "/Belljarfile", kLongestText);
  if (!text) text = read_file(flags.directory + "/Dockerfile", kLongestText);
  if (!text) return fail(Code::kInvalid, "there is no Belljarfile and no Dockerfile in " + flags.directory);
  return text;
}

// The files that a source means, below the directory.
Result<std::vector<std::string>> matches_of(const std::string& directory, std::string source) {
  while (source.starts_with("./")) source.erase(0, 2);
  while (source.starts_with("/")) source.erase(0, 1);
  if (source.empty() || source == ".") return std::vector<std::string>{"."};
  if (("/" + source + "/").find("/../") != std::string::npos)
    return fail(Code::kInvalid, "COPY " + source + ": only files below the build's directory can be copied");
  const std::string prefix = directory + "/";
  glob_t found{};
  const int failed = ::glob((prefix + source).c_str(), 0, nullptr, &found);
  std::vector<std::string> paths;
  for (size_t i = 0; failed == 0 && i < found.gl_pathc; ++i)
    paths.push_back(std::string(found.gl_pathv[i]).substr(prefix.size()));
  ::globfree(&found);
  if (paths.empty()) return fail(Code::kInvalid, "COPY " + source + ": there is no such file in " + directory);
  return paths;
}

Result<IgnoreRules> ignore_rules_of(const std::string& directory) {
  const std::string path = directory + "/.dockerignore";
  if (::access(path.c_str(), F_OK) != 0) return IgnoreRules("");
  BJ_TRY(const std::string text, read_file(path, kLongestText));
  return IgnoreRules(text);
}

// All of these that is not ignored, each by itself and in order; links are not followed.
Result<std::vector<std::string>> not_ignored(const std::string& directory, const std::vector<std::string>& paths,
                                             const IgnoreRules& rules) {
  namespace fs = std::filesystem;
  std::vector<std::string> taken, waiting;
  for (const std::string& path : paths) {
    waiting.push_back(fs::path(path).lexically_normal().string());
    if (waiting.back().ends_with("/")) waiting.back().pop_back();
  }
  while (!waiting.empty()) {
    const std::string path = std::move(waiting.back());
    waiting.pop_back();
    const bool ignored = path != "." && rules.ignores(path);
    if (!ignored) taken.push_back(path);
    std::error_code error;
    const fs::path place = fs::path(directory) / path;
    if ((ignored && !rules.has_exceptions()) || !fs::is_directory(fs::symlink_status(place, error))) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, error)) {
      const std::string name = entry.path().filename().string();
      waiting.push_back(path == "." ? name : path + "/" + name);
    }
    if (error) return fail(Code::kInvalid, place.string() + ": " + error.message());
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

Result<Fd> nameless_file() {
  Fd file(::open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  if (!file.ok()) return fail_errno("open(/tmp)");
  return file;
}

// A tar of them in a nameless file, by the machine's own tar.
Result<Fd> pack(const std::string& directory, const std::vector<std::string>& paths, const IgnoreRules& rules) {
  BJ_TRY(Fd file, nameless_file());
  BJ_TRY(const Fd names, nameless_file());
  std::vector<std::string> words = {"tar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner",
                                    "-cf", "-",           "-C",        directory};
  std::vector<std::string> all = paths;
  if (!rules.empty()) {
    words.emplace_back("--no-recursion");
    BJ_TRY(all, not_ignored(directory, paths, rules));
    if (all.empty()) return fail(Code::kInvalid, ".dockerignore leaves out all of " + paths.front());
  }
  std::string list;
  for (const std::string& path : all) list += path + '\0';
  BJ_CHECK(write_all(names.get(), list, "names"));
  if (::lseek(names.get(), 0, SEEK_SET) != 0) return fail_errno("lseek(names)");
  words.insert(words.end(), {"--null", "--verbatim-files-from", "-T", "-"});
  ProgramSpec spec;
  spec.path = "tar";
  spec.arguments = std::move(words);
  spec.input = names.get();
  spec.output = file.get();
  spec.error = STDERR_FILENO;
  BJ_TRY(Program tar, Program::start(spec));
  BJ_TRY(const int status, tar.wait());
  if (status != 0) return fail(Code::kInvalid, "tar could not pack the files of a COPY");
  return file;
}

Result<std::string> digest_of(const Fd& file) {
  Sha256 hash;
  std::string piece(1 << 20, '\0');
  off_t at = 0;
  for (;;) {
    const ssize_t n = ::pread(file.get(), piece.data(), piece.size(), at);
    if (n < 0) return fail_errno("pread(archive)");
    if (n == 0) return hash.hex();
    hash.update({piece.data(), static_cast<size_t>(n)});
    at += n;
  }
}

// Uploads what the server has not, and yields the hash of each source.
Result<json::object> upload_files(ServerClient& server, const TemplateBuildFlags& flags,
                                  const ParsedDockerfile& parsed) {
  json::object hashes;
  BJ_TRY(const IgnoreRules rules, ignore_rules_of(flags.directory));
  for (const BuildStep& step : parsed.steps) {
    if (step.kind != StepKind::kCopy || hashes.contains(step.arguments[0])) continue;
    if (!flags.manifest.empty()) return fail(Code::kInvalid, "a manifest copies no files");
    BJ_TRY(const std::vector<std::string> paths, matches_of(flags.directory, step.arguments[0]));
    BJ_TRY(const Fd archive, pack(flags.directory, paths, rules));
    BJ_TRY(const std::string hash, digest_of(archive));
    const std::string path = "/v1/templates/files/" + hash;
    BJ_TRY(const json::value there, server.ask("GET", path));
    const json::value* const present = there.is_object() ? there.get_object().if_contains("present") : nullptr;
    if (present == nullptr || !present->is_bool() || !present->get_bool()) {
      if (::lseek(archive.get(), 0, SEEK_SET) != 0) return fail_errno("lseek(archive)");
      BJ_CHECK(server.upload(path, archive.get(), {}));
    }
    hashes[step.arguments[0]] = hash;
  }
  return hashes;
}

Result<json::object> body_of(ServerClient& server, const TemplateBuildFlags& flags) {
  json::object body{{"name", flags.name}, {"force", flags.force}};
  if (!flags.tags.empty()) body["tags"] = json::array(flags.tags.begin(), flags.tags.end());
  if (flags.cpus > 0) body["cpus"] = flags.cpus;
  if (!flags.memory.empty()) {
    BJ_TRY(const uint64_t bytes, parse_size(flags.memory));
    body["memory_bytes"] = bytes;
  }
  if (!flags.start.empty()) body["start_command"] = flags.start;
  if (!flags.ready.empty()) body["ready_command"] = flags.ready;
  if (!flags.network.empty()) {
    BJ_TRY(body["network"], network_policy_json(flags.network));
  }
  if (!flags.user.empty())
    body["registry"] = {{"username", flags.user}, {"password", process_environment(flags.password_variable)}};
  if (!flags.image.empty()) {
    body["from_image"] = flags.image;
    return body;
  }
  BJ_TRY(const std::string text, text_of(flags));
  Result<ParsedDockerfile> parsed = parse_dockerfile(text);
  if (!parsed) return tl::unexpected(parsed.error());
  body["dockerfile"] = text;
  BJ_TRY(body["files"], upload_files(server, flags, *parsed));
  return body;
}

void show(const ServerEvent& event) {
  const std::string step = text_at(event.data, "step");
  print_untrusted(STDERR_FILENO, fmt::format("[{}] {}\n", step.empty() ? "-" : step, text_at(event.data, "message")));
}

}  // namespace

Result<int> build_template(ServerClient& server, const TemplateBuildFlags& flags, bool json_wanted) {
  BJ_TRY(const json::object body, body_of(server, flags));
  BJ_TRY(const json::value made, server.ask("POST", "/v1/templates", body));
  const std::string id = text_at(made, "id");
  const json::value* const build = made.is_object() ? made.get_object().if_contains("build") : nullptr;
  const std::string build_id = build == nullptr ? std::string() : text_at(*build, "id");
  json::value end;
  const auto on_event = [&end](const ServerEvent& event) {
    if (event.name == "log") show(event);
    if (event.name == "end") end = event.data;
  };
  BJ_CHECK(server.listen("GET", "/v1/templates/" + id + "/builds/" + build_id + "/logs", std::nullopt, on_event));
  const bool ready = text_at(end, "status") == "ready";
  if (json_wanted) {
    print_json(end);
  } else if (ready) {
    print_untrusted(STDOUT_FILENO, id + "\n");
  }
  return ready ? kExitOk : kExitFailed;
}

}  // namespace bj
