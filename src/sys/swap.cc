#include "sys/swap.h"

#include <sys/sysinfo.h>

namespace bj {

bool machine_has_swap() {
  struct sysinfo info{};
  return ::sysinfo(&info) == 0 && info.totalswap > 0;
}

}  // namespace bj
