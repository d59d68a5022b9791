// Landlock's constants to the newest ABI: the build machine's header stops at 2.
#pragma once

#include <cstdint>

namespace bj {

inline constexpr uint64_t kLandlockExecute = 1 << 0, kLandlockWriteFile = 1 << 1, kLandlockReadFile = 1 << 2,
                          kLandlockReadDir = 1 << 3, kLandlockRefer = 1 << 13, kLandlockTruncate = 1 << 14,
                          kLandlockIoctl = 1 << 15;
inline constexpr uint64_t kLandlockRead = kLandlockExecute | kLandlockReadFile | kLandlockReadDir;
inline constexpr uint64_t kLandlockMakeDevices = 1 << 6 | 1 << 11;  // character (overlay's whiteouts too) and block
inline constexpr uint64_t kLandlockScopeAbstractSockets = 1 << 0, kLandlockScopeSignals = 1 << 1;

// All file rights that an ABI knows; handling one it does not know is refused by the kernel.
constexpr uint64_t landlock_file_rights(int abi) {
  uint64_t rights = (1 << 13) - 1;
  if (abi >= 2) rights |= kLandlockRefer;
  if (abi >= 3) rights |= kLandlockTruncate;
  if (abi >= 5) rights |= kLandlockIoctl;
  return rights;
}

constexpr uint64_t landlock_scopes(int abi) {
  return abi >= 6 ? kLandlockScopeAbstractSockets | kLandlockScopeSignals : 0;
}

}  // namespace bj
