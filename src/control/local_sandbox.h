// Sandboxes of this machine, behind the interface that the life cycle works with.
#pragma once

#include <functional>
#include <string>

#include "control/live_sandbox.h"
#include "engine/engine.h"

namespace bj {

// Hears what happens at a sandbox's gate; told when it is over.
struct GateWitness {
  GateListener note;
  std::function<void()> finish;
};

struct SandboxCredentials {
  GateCredentials gate;
  SandboxEnvironment placeholders;
};

struct LocalHostOptions {
  Limits limits;  // of what a row does not say: open files and the like
  bool require_full_seal = false;
  // What a template's name means for an organization. Blocks: it is called on a worker.
  std::function<Result<Template>(const std::string& organization, const std::string& reference)> image;
  // What a sandbox of an organization may reach if it asks for `wish` (JSON): never more than the organization. Blocks:
  // it is called on a worker.
  std::function<Result<NetworkPolicy>(const std::string& organization, const std::string& wish)> network;
  std::function<GateWitness(const SandboxRow&)> witness;
  // What its gate gives to requests, and the variables in which code finds placeholders. Blocks, too.
  std::function<Result<SandboxCredentials>(const SandboxRow&)> credentials;
  // What else it gets mounted; none: nothing. Blocks, as above.
  std::function<Result<std::vector<MountSpec>>(const SandboxRow&)> mounts;
};

class LocalHost : public SandboxHost {
 public:
  LocalHost(Engine& engine, LocalHostOptions options) : engine_(engine), options_(std::move(options)) {}

  Task<Result<void>> check(const SandboxRow& row) override;
  Task<Result<void>> change_network(const SandboxRow& row, LiveSandbox& live) override;
  Task<Result<std::shared_ptr<LiveSandbox>>> create(SandboxRow row, SandboxEnvironment environment) override;

 private:
  // With the placeholders as its environment.
  Task<Result<SandboxSpec>> spec_of(const SandboxRow& row);

  Engine& engine_;
  LocalHostOptions options_;
};

}  // namespace bj
