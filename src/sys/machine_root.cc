#include "sys/machine_root.h"

#include <unistd.h>

#include <cstdint>
#include <sstream>

#include "sys/files.h"

namespace bj {

bool is_machine_root() {
  if (::geteuid() != 0) return false;
  std::istringstream map(read_file("/proc/self/uid_map").value_or(""));
  uint32_t inside = 1, outside = 1, count = 0;
  map >> inside >> outside >> count;
  return inside == 0 && outside == 0 && count == UINT32_MAX;
}

}  // namespace bj
