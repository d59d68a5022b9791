// What the user asked for, from four places: flags over the environment (BELLJAR_*) over the config file (TOML) over
// defaults. Plain data once main() has put it together.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"
#include "seal/policy.h"
#include "server/rate_limits.h"
#include "tools/tool_settings.h"

namespace bj {

// Of sandboxes that live with the server: what each organization may have at a time (0: no limit), and for how long.
struct SandboxSettings {
  std::string provider = "local";
  int64_t most_live = 100;
  double most_cpus = 0;
  int64_t most_memory_bytes = 0;
  int64_t most_disk_bytes = 0;
  int64_t most_stored_bytes = int64_t{64} << 30;  // files of stopped sandboxes, snapshots, templates
  int64_t timeout_s = 300;                        // unless a sandbox says otherwise
  int64_t longest_timeout_s = 24 * 3600;
  int64_t most_volumes = 100;
  int64_t most_volume_bytes = int64_t{100} << 30;  // together
  int64_t volume_bytes = int64_t{1} << 30;         // of one that asks for no size
  std::string domain;                              // below which they have host names; empty: localhost
  bool keep_on_stop = false;  // a server that stops leaves them to the next one, as if it had been killed
};

struct Settings {
  std::string data_directory;  // default_data_directory() unless set
  Limits limits;
  bool timeout_given = false;  // limits.wall_ms is the user's choice, not the default
  std::string template_name = "base";
  std::string interpreter;  // of Python tools; empty: /usr/bin/python3 of the base template, python3 on another's PATH
  bool require_full_seal = false;
  bool json = false;
  PoolOptions python_pool;
  PoolOptions node_pool = EngineOptions{}.node_pool;
  PoolOptions gated_pool = EngineOptions{}.gated_pool;

  std::string database;                    // postgresql://...; empty: SQLite in the data directory
  bool letta_secret_format = false;        // secrets are written so that a Letta server can read them
  bool pass_proxies = false;               // tools get the server's *_PROXY variables
  std::chrono::hours keep_calls{30 * 24};  // records of calls; 0: for ever
  std::string network = "none";            // of organizations without a policy; as --network takes it
  std::string credentials_directory;       // of credentials in files; empty: there are none
  std::string registries;                  // "host:port, ...": may have an address that is not public
  RateLimits rates;                        // of each key
  SandboxSettings sandboxes;
  std::vector<GivenSetting> tool_settings;     // the config file's [tools], under Letta's names
  std::map<std::string, std::string> origins;  // of what is not a default: "config.toml:3", "environment BELLJAR_DATA"
};

// Looks up an environment variable; empty: not set.
using Lookup = std::function<std::string(const std::string& name)>;
std::string process_environment(const std::string& name);

// /var/lib/belljar for root, else $XDG_DATA_HOME/belljar or ~/.local/share/belljar.
Result<std::string> default_data_directory(bool root, const Lookup& environment);

// Defaults, then the config file, then the environment. `config`: from --config; empty: the first that exists of
// $XDG_CONFIG_HOME/belljar/config.toml (or ~/.config/...) and /etc/belljar/config.toml. A key that is not known or of
// the wrong type is an error that names file and line.
Result<Settings> load_settings(const std::string& config, bool root, const Lookup& environment);

// The engine as the settings want it, with its warm pools.
EngineOptions engine_options(const Settings& settings);
// The same without pools: for one call, where nothing that waits is ever used.
EngineOptions one_shot_options(const Settings& settings);

}  // namespace bj
