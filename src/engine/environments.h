// Environments: the packages that tools require, installed once and mounted read-only into every call that asks for the
// same. An environment is named by what it is made from (environment_key.h), so equal requests share one, whoever asks.
//
// It is built in a sandbox of its own, because installing runs the packages' code: all walls up, no secrets, nothing of
// the host's files, the host's network only to reach the package index (HostNetwork in seal/policy.h). What was
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
#include "engine/call.h"
#include "engine/environment_key.h"
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

enum class BuildPhase { kWaiting, kPreparing, kInstalling, kCompiling, kCopying };
const char* phase_name(BuildPhase phase);

struct BuildProgress {
  BuildPhase phase = BuildPhase::kPreparing;
  std::string message;             // one line, credentials masked, harmless to logs but not to terminals
  std::optional<double> fraction;  // of the whole, roughly, where it is known
};
using Progress = std::function<void(const BuildProgress&)>;

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

class EnvironmentBuild;

class Environments : public std::enable_shared_from_this<Environments> {
 public:
  Environments(Host& host, std::string directory);

  // Removes what dead builders left.
  void remove_leftovers();
  // Kills running builds and waits for them.
  Task<void> stop();

  // The environment for these requirements, built if need be. No requirements: an environment without a path.
  // kInvalid: a requirement was refused, nothing ran. kUnavailable: the installer failed; the text is its last relevant
  // lines, for install_failure(). `progress` may be empty; it is called on this thread until the task ends.
  Task<Result<Environment>> ensure(EnvironmentRequest request, Progress progress, Force force);

  Task<Result<std::vector<EnvironmentInfo>>> list() const;
  Task<Result<PruneReport>> prune(PruneRequest request);

  // How many builder sandboxes were started here: what "as fast as one without" is proven by.
  uint64_t builds_started() const { return builds_started_; }

 private:
  friend class EnvironmentBuild;
  Task<Result<Environment>> wait_for(std::shared_ptr<EnvironmentBuild> build, Progress progress);
  Task<Result<Environment>> find(std::string key, EnvironmentRequest request);

  Host& host_;
  std::string directory_;
  bool stopping_ = false;
  uint64_t builds_started_ = 0;
  std::map<std::string, std::shared_ptr<EnvironmentBuild>> building_;  // by key
  std::map<std::string, Environment> known_;                           // by key, the generation in use here
  std::map<std::string, Clock::time_point> touched_;                   // last_used on disk, at most once a minute
};

// The contract's sentence: "Failed to install pip packages (sandbox requirements: a, b; tool requirements: c). This may
// be due to ...: <what the installer said>".
std::string install_failure(Language language, const std::vector<std::string>& sandbox_requirements,
                            const std::vector<std::string>& tool_requirements, const Error& error);

}  // namespace bj
