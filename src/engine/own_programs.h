// Programs of ours that are in every sandbox, below the mount at /opt/belljar.
#pragma once

namespace bj {

inline constexpr const char* kOwnPrograms = "/opt/belljar/bin";
inline constexpr const char* kSudo = "/opt/belljar/bin/sudo";  // stands in for sudo(8)

}  // namespace bj
