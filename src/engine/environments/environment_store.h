// Environments on disk: <root>/<key>/<generation>/{environment.json, packages/}, the generation being the time of its
// making, the highest one counts. Several processes use one store at once; every lock is the kernel's and goes with its
// process:
//
//   <root>                      for the moment in which a staging directory is made or leftovers are looked for
//   <root>/.build-XXXXXX        as long as its builder lives; renamed when whole
//   <root>/.locks/<key>         by the one who builds; holds the last failure
//   <root>/<key>/<generation>   shared, by everyone who uses it
//
// All functions block: call them from workers. Nothing here runs or trusts what is in packages/.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "engine/calls/call.h"

namespace bj {

struct EnvironmentRecord {
  std::string key;
  Language language = Language::kPython;
  std::string template_name;
  std::vector<std::string> requirements;
  std::vector<std::string> site_dirs;  // inside
  std::string builder_seal;            // what its builder lacked
  uint64_t size_bytes = 0;
  uint64_t entries = 0;
  std::chrono::system_clock::time_point created;
};

struct StoredEnvironment {
  EnvironmentRecord record;
  std::string packages;  // the directory on the host
  std::chrono::system_clock::time_point last_used;
  bool in_use = false;
  std::shared_ptr<const Fd> lease;  // of find(): the shared lock
};

struct PruneRequest {
  std::optional<std::chrono::seconds> unused_for;  // not used for at least that long
  std::vector<std::string> keys;                   // or these, whole or their first characters
  bool all = false;
};
struct PruneReport {
  std::vector<std::string> removed;  // keys
  std::vector<std::string> in_use;   // asked for, but some pool mounts it
  uint64_t freed_bytes = 0;
};

// A staging directory. Removed with what is in it, unless it was published.
class Staging {
 public:
  Staging() = default;
  Staging(Staging&&) = default;
  Staging& operator=(Staging&&) = delete;
  ~Staging();
  int packages() const { return packages_.get(); }  // to be filled
  Result<void> discard();                           // now, not in the destructor

 private:
  friend class EnvironmentStore;
  std::string name_;
  Fd root_, directory_, packages_;
};

// The right to build one key.
class BuildLock {
 public:
  // Why the last build failed, if that was a moment ago.
  std::optional<Error> recent_failure() const;
  void note_failure(const Error& error) const;
  void note_success() const;

 private:
  friend class EnvironmentStore;
  explicit BuildLock(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

class EnvironmentStore {
 public:
  explicit EnvironmentStore(std::string root) : root_(std::move(root)) {}

  // Removes staging directories whose builder is dead.
  void remove_leftovers() const;

  // The newest generation, locked against pruning. Nothing if there is none.
  Result<std::optional<StoredEnvironment>> find(const std::string& key) const;
  // Nothing if somebody builds it.
  Result<std::optional<BuildLock>> try_lock(const std::string& key) const;
  Result<Staging> stage() const;
  // The staging directory becomes the newest generation, whole; older ones go if nobody uses them.
  Result<StoredEnvironment> publish(Staging& staging, const EnvironmentRecord& record) const;

  Result<void> touch(const std::string& packages) const;  // used now
  Result<std::vector<StoredEnvironment>> list() const;    // the newest generation of each, without leases
  // A key that is not there is an error, one in use is not.
  Result<PruneReport> prune(const PruneRequest& request) const;

 private:
  Result<Fd> open_root() const;
  // False: one is in use.
  Result<bool> remove_generations(const Fd& root, const std::string& key, const std::string& except) const;

  std::string root_;
};

}  // namespace bj
