// Sandbox configurations and their environment variables: Letta's manager operations, one configuration a type and
// organization. Blocks: call it on the store's threads.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/actor.h"
#include "store/store.h"
#include "tools/environment_layers.h"
#include "tools/sandbox_config.h"

namespace bj {

class ConfigManager {
 public:
  ConfigManager(Store& store, SandboxDefaults defaults) : store_(store), defaults_(std::move(defaults)) {}

  // `config` as a request has it; kUnprocessable with all that is wrong with it.
  Result<SandboxConfigRow> put(const Actor& actor, const boost::json::value& config);
  Result<SandboxConfigRow> put_as(const Actor& actor, SandboxType type, const boost::json::value& config);
  Result<SandboxConfigRow> patch(const Actor& actor, const std::string& id, const boost::json::value& config);
  // The configuration of that type, made with its defaults at the first need.
  Result<SandboxConfigRow> find_or_create(const Actor& actor, SandboxType type);
  const SandboxDefaults& defaults() const { return defaults_; }

 private:
  Store& store_;
  SandboxDefaults defaults_;
};

// In clear: what a call's environment is made of.
VariableLayer clear_values(const std::vector<VariableRow>& variables);

}  // namespace bj
