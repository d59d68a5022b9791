// The compiler may call these for aggregates even where no C library is linked; volatile keeps it from turning the
// loops into calls of themselves.
#include "sys/raw.h"

extern "C" void* memset(void* to, int value, size_t n) {
  auto* out = static_cast<volatile unsigned char*>(to);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<unsigned char>(value);
  return to;
}
extern "C" void* memcpy(void* to, const void* from, size_t n) {
  bj::raw::copy(to, from, n);
  return to;
}
