// Whether this machine could write memory of processes to a disk.
#pragma once

namespace bj {

bool machine_has_swap();

}  // namespace bj
