// System calls without a C library: for code that runs between clone and exec, inside the warden, or inside a
// forked interpreter, where neither malloc nor errno nor locks may be touched. Every function returns what the
// kernel returned: a value, or a negative errno.
#pragma once

#include <asm/unistd.h>
#include <linux/prctl.h>

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#error "Belljar runs on x86-64 so far: src/sys/raw.h holds the one place to add an architecture"
#endif

namespace bj::raw {

inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

template <class T>
long address(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

inline constexpr long kAtFdCwd = -100;
inline constexpr unsigned kAtEmptyPath = 0x1000;

// Calls newer than the build machine's headers.
inline constexpr long kNrOpenTree = 428, kNrMoveMount = 429, kNrFsopen = 430, kNrFsconfig = 431, kNrFsmount = 432;
inline constexpr long kNrClone3 = 435, kNrCloseRange = 436, kNrOpenat2 = 437, kNrMountSetattr = 442;
inline constexpr long kNrLandlockCreate = 444, kNrLandlockAdd = 445, kNrLandlockRestrict = 446;

// No capability but those of `keep` can be had by executing something. Asked first: each drop makes new credentials,
// and a zygote's children have none left to drop.
inline long drop_bounding(uint64_t keep) {
  constexpr long kBeyondTheLast = 64;
  for (long c = 0; c < kBeyondTheLast; ++c) {
    if ((keep >> c & 1) != 0 || call(__NR_prctl, PR_CAPBSET_READ, c) == 0) continue;
    if (call(__NR_prctl, PR_CAPBSET_DROP, c) < 0) break;  // past the kernel's last
  }
  return 0;
}

inline size_t length(const char* text) {
  size_t n = 0;
  while (text[n] != 0) ++n;
  return n;
}

inline bool same(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

// A plain loop, kept from being turned into a call of memcpy, which does not exist here.
inline void copy(void* to, const void* from, size_t n) {
  auto* out = static_cast<volatile unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  for (size_t i = 0; i < n; ++i) out[i] = in[i];
}

}  // namespace bj::raw
