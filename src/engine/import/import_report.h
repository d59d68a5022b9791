// What an import found out, and the lines in which the confined process tells it: one JSON object a line, in three
// kinds (progress, done, error). The process has read hostile input, so its lines are hostile too: decode() bounds
// and checks every field again, and nothing of it reaches a terminal unescaped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"

namespace bj {

// What an image asks for when it is run. Only what passes the checks is kept.
struct ImageSettings {
  std::map<std::string, std::string> environment;
  std::string user;     // "", a name or number, with or without ":group"
  std::string workdir;  // "" or an absolute path without ".."

  std::vector<std::string> notes;  // what was left out, a sentence each
};

// Variables of the dynamic linker, of interpreters' start-up and of proxies are left out: they steer programs that
// are not the image's own.
ImageSettings checked_settings(const std::vector<std::string>& environment, const std::string& user,
                               const std::string& workdir);

struct ImportProgress {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  uint64_t layer = 0;  // from 1; 0 before the first
  uint64_t layers = 0;
};

struct ImportReport {
  std::string kind;  // "directory", "tar", "docker-archive", "oci-archive" or "oci-layout"
  uint64_t entries = 0;
  uint64_t bytes = 0;
  uint64_t layers = 1;
  uint64_t special_files = 0;  // devices, FIFOs and sockets, left out
  uint64_t set_id_bits = 0;    // removed
  uint64_t attributes = 0;     // extended ones, left out
  uint64_t owners = 0;         // that could not be kept
  int64_t landlock_abi = 0;    // 0: the kernel has none, and `notes` says so
  ImageSettings settings;
  std::vector<std::string> notes;  // what a person should know, a sentence each
};

using ImportMessage = std::variant<ImportProgress, ImportReport, Error>;

inline constexpr size_t kLongestMessage = 1u << 20;

std::string encode(const ImportMessage& message);  // ends with a line feed
Result<ImportMessage> decode(std::string_view line);

// template.json of an imported template: for people, and for who starts sandboxes from it.
std::string template_json(const std::string& name, const std::string& source, const ImportReport& report);
// The settings in <template_directory>/template.json, checked again; empty ones if there is no such file.
Result<ImageSettings> read_image_settings(const std::string& template_directory);

}  // namespace bj
