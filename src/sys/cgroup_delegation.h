// What version 2 wants before a group may have groups in it that are limited: it must have been given the controllers,
// hand them down, and hold no process itself. Where the machine's root group is ours all that is so; a group that was
// given to us (a delegated systemd scope, a container's) has us in it.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bj {

// The group in which whoever makes groups called `name` lives himself, beside them.
std::string own_leaf(const std::string& name);

// The group that a process was given, from its /proc/PID/cgroup; empty: the root. One that has gone to its leaf was
// given the group above.
std::string given_group(const std::string& proc_cgroup, const std::string& name);

std::set<std::string> words_in(const std::string& file);  // none if it can't be read

// Moves processes from `parent` to own_leaf(name) in it: ours and our children; as root all of them, because only a
// container's root group can have any. Fails if there are others.
Result<void> make_room(const std::string& parent, const std::string& name);

// Hands a controller down from `parent` to `group` in it, and to what is made in that.
Result<void> offer(const std::string& parent, const std::string& group, std::string_view controller);

}  // namespace bj
