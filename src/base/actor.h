// On whose behalf something is done, as the key that came with a request says. The organization is the wall: nothing of
// another one is ever read or written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bj {

inline constexpr char kDefaultOrganization[] = "org-00000000-0000-4000-8000-000000000000";
inline constexpr char kDefaultUser[] = "user-00000000-0000-4000-8000-000000000000";

// In rising order: each role may do what the ones before it may.
enum class Role { kReadOnly, kMember, kAdmin };

// What a key may do at most, where it differs from what the server gives to every key. 0: as much as it likes.
struct KeyLimits {
  std::optional<double> requests_per_second;
  std::optional<int64_t> runs_at_once;
};

struct Actor {
  std::string organization = kDefaultOrganization;
  std::string user = kDefaultUser;
  std::string key;  // the key's id, empty: none was needed
  Role role = Role::kReadOnly;
  KeyLimits limits{};
};

}  // namespace bj
