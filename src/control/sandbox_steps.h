// Steps of a sandbox's row through its life, for those who write it.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "control/lifecycle.h"
#include "store/sandbox_table.h"

namespace bj {

inline constexpr int64_t kSecond = 1'000'000;
inline constexpr int64_t kLease = 300 * kSecond;  // of a claimed command: longer than any may take
inline constexpr int64_t kKeepEnded = 30 * 24 * 3600 * kSecond;

SandboxState state_in(const SandboxRow& row);
// kConflict if that can't follow. The end of its life is noted once.
Result<void> step(SandboxRow& row, LifeEvent event, const std::string& reason, int64_t now);
// A command's payload or outcome; what is no object is an empty one.
boost::json::object object_of(const std::string& text);
// When it ends if no server is there to end it; 0: not by itself.
int64_t end_without_server(const SandboxRow& row);
// Who is responsible for what it does by itself.
Actor owner_of(const SandboxRow& row);

}  // namespace bj
