// Who makes a request, as the key that came with it says.
#pragma once

#include <string>

namespace bj {

// In rising order: each role may do what the ones before it may.
enum class Role { kReadOnly, kMember, kAdmin };

struct Actor {
  std::string organization_id;
  std::string user_id;
  std::string key_id;
  Role role = Role::kReadOnly;
};

}  // namespace bj
