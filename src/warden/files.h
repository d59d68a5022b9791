// Files of the sandbox, opened inside it and as one of its users; the engine gets descriptors.
#pragma once

#include "warden/kernel.h"

namespace bj::ward {

struct Opened {
  long value;  // >= 0, or -errno
  long fd;     // to pass back, -1: none
};

Opened file_operation(const Request& request, const char* strings);
Opened connect_to(const Request& request);

}  // namespace bj::ward
