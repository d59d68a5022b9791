// Environments: the packages that tools require, installed once and mounted read-only into every call that asks for the
// same. An environment is named by what it is made from (environment_key.h), so equal requests share one, whoever asks.
//
// It is built in a sandbox of its own, because installing runs the packages' code: all walls up, no secrets, nothing of
// the host's files, a network on which there is only the package index (environment_network.h). What was
// installed is then copied out of the dead sandbox by descriptor, following nothing, and appears under its final name
// at once:
//
//   <data>/environments/<key>/<generation>/{environment.json, packages/}
//
// Builds are locked by key, also across processes; who comes second waits for the first, hears its progress and gets
// its result. A failure leaves nothing but a note that answers the next few seconds' equal requests; what a kill -9
// leaves (a staging directory nobody locks) goes at the next start. An environment in use holds a shared lock, so that
// prune() of any process leaves it alone.
//
// Stays on the engine's thread; blocking work goes to its workers.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/change.h"
#include "engine/calls/call.h"
#include "engine/environments/environment_build.h"
#include "engine/environments/environment_key.h"
#include "engine/environments/environment_store.h"
#include "engine/host.h"

namespace bj {

struct EnvironmentRequest {
  Language language = Language::kPython;
  Template image;
  std::string interpreter = "python3";    // of Python: a path or a name on the template's PATH
  std::vector<std::string> requirements;  // as people write them; see normalize_requirements()
  IndexSettings index;                    // where packages come from, see index_settings()
};

// Keeps an environment from being pruned as long as one copy lives.
using EnvironmentLease = std::shared_ptr<const void>;

struct Environment {
  std::string key;
  std::string path;                              // on the host: goes to EnvironmentSpec::host_packages
  std::vector<std::string> site_dirs;            // inside, for EnvironmentSpec::site_dirs; empty for TypeScript
  std::map<std::string, std::string> variables;  // PATH and VIRTUAL_ENV, to be put below the tool's own
  EnvironmentLease lease;                        // goes to EnvironmentSpec::packages_lease
  bool built = false;                            // by this very call, or one it waited for

  // Puts all of it into a call's environment.
  void apply_to(EnvironmentSpec& spec) const;
};

enum class Force { kNo, kRebuild };

struct EnvironmentInfo {
  std::string key;
  Language language = Language::kPython;
  std::string template_name;
  std::vector<std::string> requirements;
  uint64_t size_bytes = 0;
  std::chrono::system_clock::time_point created, last_used;
  bool in_use = false;
};

// Stays on its executor's thread.
class Environments : public std::enable_shared_from_this<Environments> {
 public:
  // `directory`: <data>/environments, made when it is needed.
  Environments(Host& host, const std::string& directory);

  // Removes what dead builders left.
  void remove_leftovers() { store_.remove_leftovers(); }
  // Kills running builds and waits for them.
  Task<void> stop();

  // The environment for these requirements, built if need be. No requirements: an environment without a path.
  // kInvalid: a requirement was refused, nothing ran. kUnavailable: the installer failed; the text is its last relevant
  // lines, for install_failure(). `progress` may be empty; it is called on this thread until the task ends.
  Task<Result<Environment>> ensure(EnvironmentRequest request, Progress progress, Force force);

  Task<Result<std::vector<EnvironmentInfo>>> list() const;
  Task<Result<PruneReport>> prune(PruneRequest request);

  // Builder sandboxes started here: what "the second call is as fast as one without" is proven by.
  uint64_t builds_started() const { return builds_started_; }

 private:
  struct Build;
  struct Known {
    Environment environment;
    std::weak_ptr<const void> lease;  // of whoever uses it
    int64_t change_time = 0;          // of <directory>/<key>: another process may have built a new generation
  };

  std::optional<Environment> known(const std::string& key);
  Environment remember(const std::string& key, StoredEnvironment stored, bool built, const Template& image);
  Task<Result<Environment>> wait_for(std::shared_ptr<Build> build, Progress progress);
  Task<void> run(std::shared_ptr<Build> build);
  Task<Result<Environment>> find_or_build(std::shared_ptr<Build> build);
  Task<Result<std::optional<StoredEnvironment>>> find(std::string key);
  Task<Result<BuildLock>> lock(std::shared_ptr<Build> build);
  Task<Result<StoredEnvironment>> build_now(std::shared_ptr<Build> build);
  void touch(const std::string& key, const std::string& packages);

  Host& host_;
  EnvironmentStore store_;
  std::string directory_;
  bool stopping_ = false;
  uint64_t builds_started_ = 0;
  std::map<std::string, std::shared_ptr<Build>> building_;  // by key
  std::map<std::string, Known> known_;                      // by key: the generation that was used last
  std::map<std::string, Clock::time_point> touched_;        // by key: when last_used was written
  Change changed_;                                          // told when a build ends
};

// The contract's sentence: "Failed to install pip packages (sandbox requirements: a, b; tool requirements: c). This may
// be due to ...: <what the installer said>".
std::string install_failure(Language language, const std::vector<std::string>& sandbox_requirements,
                            const std::vector<std::string>& tool_requirements, const Error& error);

}  // namespace bj
