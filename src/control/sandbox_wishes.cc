#include "control/sandbox_wishes.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <set>

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMostVolumes = 6;  // a sandbox has eight mounts of its own at most
constexpr size_t kLongestPath = 255;
constexpr size_t kLongestUrl = 2048;
constexpr size_t kDeepest = 16;
// Where processes, devices and what is ours lie.
constexpr std::array<std::string_view, 7> kTaken = {"/proc",        "/sys", "/dev", "/opt/belljar",
                                                    "/run/belljar", "/usr", "/etc"};

bool is_at_or_below(std::string_view path, std::string_view top) {
  return path == top || (path.starts_with(top) && path[top.size()] == '/');
}

bool is_clean(const std::string& path) {
  if (!path.starts_with("/") || path.size() < 2 || path.size() > kLongestPath || path.ends_with("/")) return false;
  if (path.find('\0') != std::string::npos || path.find("//") != std::string::npos) return false;
  if (static_cast<size_t>(std::count(path.begin(), path.end(), '/')) > kDeepest) return false;
  const std::string closed = path + "/";
  return closed.find("/./") == std::string::npos && closed.find("/../") == std::string::npos;
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

std::string text_at(const json::object& object, std::string_view key) {
  const json::value* const found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

bool flag_at(const json::object& object, std::string_view key) {
  const json::value* const found = object.if_contains(key);
  return found != nullptr && found->is_bool() && found->get_bool();
}

}  // namespace

Result<void> check_volume_wishes(const std::vector<VolumeWish>& volumes) {
  const auto refuse = [](std::string why) { return fail(Code::kUnprocessable, "volumes: " + std::move(why)); };
  if (volumes.size() > kMostVolumes) return refuse("a sandbox can have 6");
  std::set<std::string> paths;
  for (const VolumeWish& volume : volumes) {
    if (volume.name.empty() || volume.name.find('\0') != std::string::npos) return refuse("each has a name");
    if (!is_clean(volume.path))
      return refuse(
          "a path is absolute, without . and .. and a slash at its end, of 255 characters and 16 levels at most");
    for (const std::string_view taken : kTaken) {
      if (is_at_or_below(volume.path, taken)) return refuse("nothing can be mounted at " + volume.path);
    }
    for (const std::string& other : paths) {
      if (is_at_or_below(volume.path, other) || is_at_or_below(other, volume.path))
        return refuse("paths must not lie in each other: " + volume.path);
    }
    paths.insert(volume.path);
  }
  return {};
}

Result<void> check_git_wish(const GitWish& git) {
  const auto refuse = [](std::string why) { return fail(Code::kUnprocessable, std::move(why)); };
  if (git.url.empty() && (!git.branch.empty() || !git.path.empty()))
    return refuse("git_branch and git_path need a git_url");
  if (git.url.empty()) return {};
  const size_t scheme = git.url.starts_with("https://") ? 8 : git.url.starts_with("http://") ? 7 : 0;
  if (scheme == 0 || git.url.size() > kLongestUrl || !is_printable(git.url))
    return refuse("git_url must be an address that begins with https:// or http://, without spaces");
  const std::string host = git.url.substr(scheme, git.url.find_first_of("/?#", scheme) - scheme);
  if (host.empty() || host.find('@') != std::string::npos)
    return refuse("git_url must not hold a user or password: a credential at the gate keeps them out of the sandbox");
  if (git.branch.size() > kLongestPath || git.branch.starts_with("-") || !is_printable(git.branch))
    return refuse("git_branch is not the name of a branch");
  if (!git.path.empty() && !is_clean("/" + git.path))
    return refuse("git_path must be relative to the home, without ..");
  return {};
}

std::string wishes_text(const SandboxWishes& wishes) {
  json::object object;
  if (!wishes.git.url.empty())
    object["git"] = {{"url", wishes.git.url}, {"branch", wishes.git.branch}, {"path", wishes.git.path}};
  json::array volumes;
  for (const VolumeWish& one : wishes.volumes)
    volumes.push_back(
        json::object{{"id", one.id}, {"name", one.name}, {"path", one.path}, {"read_only", one.read_only}});
  if (!volumes.empty()) object["volumes"] = std::move(volumes);
  if (wishes.extend_on_activity) object["extend_on_activity"] = true;
  return json::serialize(object);
}

SandboxWishes wishes_of(const std::string& text) {
  SandboxWishes wishes;
  json::error_code bad;
  const json::value value = json::parse(text, bad);
  if (bad || !value.is_object()) return wishes;
  const json::object& object = value.get_object();
  wishes.extend_on_activity = flag_at(object, "extend_on_activity");
  if (const json::value* const git = object.if_contains("git"); git != nullptr && git->is_object()) {
    const json::object& wish = git->get_object();
    wishes.git = {text_at(wish, "url"), text_at(wish, "branch"), text_at(wish, "path")};
  }
  const json::value* const volumes = object.if_contains("volumes");
  if (volumes == nullptr || !volumes->is_array()) return wishes;
  for (const json::value& one : volumes->get_array()) {
    if (!one.is_object()) continue;
    const json::object& volume = one.get_object();
    wishes.volumes.push_back(
        {text_at(volume, "id"), text_at(volume, "name"), text_at(volume, "path"), flag_at(volume, "read_only")});
  }
  return wishes;
}

}  // namespace bj
