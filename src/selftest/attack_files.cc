#include "selftest/attack_files.h"

#include <map>

#include "base/pack.h"

// Put in by the build (cmake/embed_attacks.S.in).
extern "C" {
extern const char belljar_attacks_begin[], belljar_attacks_end[];
}

namespace bj::selftest {
namespace {

constexpr std::string_view kWorld = "world/";

std::map<std::string, std::string> packed() {
  std::map<std::string, std::string> data;
  Pack pack({belljar_attacks_begin, static_cast<size_t>(belljar_attacks_end - belljar_attacks_begin)});
  while (!pack.done()) {
    const Pack::File file = pack.next();
    data.emplace(file.name, file.data);
  }
  return data;
}

}  // namespace

std::vector<AttackFile> embedded_world_files() {
  std::vector<AttackFile> files;
  for (const auto& [name, text] : packed()) {
    if (name.starts_with(kWorld)) files.push_back({name.substr(kWorld.size()), text, {}});
  }
  return files;
}

// A C attack is there twice: "09_x32.c", whose header is read, and "09_x32", which is run.
std::vector<AttackFile> embedded_attack_files() {
  const std::map<std::string, std::string> data = packed();
  std::vector<AttackFile> files;
  for (const auto& [name, text] : data) {
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos || name.starts_with(kWorld)) continue;
    const auto compiled = data.find(name.substr(0, dot));
    files.push_back({name, text, compiled == data.end() ? text : compiled->second});
  }
  return files;
}

}  // namespace bj::selftest
