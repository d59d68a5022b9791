// Which instances of Belljar are alive: each holds the lock on a file of its own, which the kernel lets go however the
// process ends. A file without its lock names a dead instance, whose leftovers any other may remove.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

// Several processes may take and clean at the same time. Files are named at random, so no name is used twice.
class InstanceLock {
 public:
  // Makes `directory` if it is missing, and in it a file with `note`, for people who look.
  static Result<InstanceLock> take(const std::string& directory, const std::string& note);
  // Goes on as the instance `name`, whose lock `file` holds: a process before this one has taken it.
  static InstanceLock go_on(const std::string& directory, std::string name, Fd file) {
    return {directory, std::move(name), std::move(file)};
  }
  InstanceLock() = default;

  const std::string& name() const { return name_; }
  const Fd& file() const { return file_; }

  // Calls `remove` with the name of each dead instance. Where that says false, something is still in use (processes
  // take a moment to die) and the file stays, for the next who cleans.
  void clean_after_dead(const std::function<bool(const std::string& name)>& remove) const;

  // The end of a life without leftovers: removes the file.
  void release();

 private:
  InstanceLock(std::string directory, std::string name, Fd file)
      : directory_(std::move(directory)), name_(std::move(name)), file_(std::move(file)) {}

  std::string directory_, name_;
  Fd file_;
};

}  // namespace bj
