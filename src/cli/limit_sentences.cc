#include "cli/limit_sentences.h"

#include <fmt/format.h>

#include "cli/sizes.h"

namespace bj {

std::string limit_sentence(const std::string& limit, const Limits& limits, const char* who) {
  if (limit == "wall time") {
    return fmt::format("{} took longer than its wall time limit of {} (--timeout)", who,
                       format_duration(limits.wall_ms));
  }
  if (limit == "cpu") {
    return fmt::format("{} used more than its CPU time limit of {} (--cpu-time)", who, format_duration(limits.cpu_ms));
  }
  if (limit == "memory") {
    return fmt::format("{} reached its memory limit of {} (--memory)", who, format_size(limits.memory_bytes));
  }
  if (limit == "processes") {
    return fmt::format("new processes were refused: the limit is {} (--processes)", limits.processes);
  }
  if (limit == "open files") {
    return fmt::format("{} reached its limit of {} open files (--open-files)", who, limits.open_files);
  }
  if (limit == "disk") {
    return fmt::format("{} reached its disk limit of {} (--disk)", who, format_size(limits.disk_bytes));
  }
  return {};
}

}  // namespace bj
