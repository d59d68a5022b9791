// Sandboxes of this machine, behind the interface that the life cycle works with.
#pragma once

#include <functional>
#include <string>

#include "control/live_sandbox.h"
#include "control/sandbox_credentials.h"
#include "control/template_content.h"
#include "engine/engine.h"

namespace bj {

// Hears what happens at a sandbox's gate; told when it is over.
struct GateWitness {
  GateListener note;
  std::function<void()> finish;
};

struct LocalHostOptions {
  Limits limits;  // of what a row does not say: open files and the like
  bool require_full_seal = false;
  // What a template's name means for an organization. Blocks: it is called on a worker.
  std::function<Result<Template>(const std::string& organization, const std::string& reference)> image;
  // The same of a content that is known.
  std::function<Result<Template>(const std::string& name, const TemplateContent& content)> image_of_content;
  // What a sandbox may reach that asks for what its row says: never more than its organization and what it is made of
  // allow. Blocks: it is called on a worker.
  std::function<Result<NetworkPolicy>(const SandboxRow&)> network;
  std::function<GateWitness(const SandboxRow&)> witness;
  ReadCredentials credentials;  // blocks, too
  // What else it gets mounted; none: nothing. Blocks, as above.
  std::function<Result<std::vector<MountSpec>>(const SandboxRow&)> mounts;
};

class LocalHost : public SandboxHost {
 public:
  LocalHost(Engine& engine, LocalHostOptions options) : engine_(engine), options_(std::move(options)) {}

  Task<Result<void>> check(const SandboxRow& row) override;
  Task<Result<void>> check_credentials(const SandboxRow& row) override;
  Task<Result<void>> change_network(const SandboxRow& row, LiveSandbox& live) override;
  Task<void> renew_network(const SandboxRow& row, LiveSandbox& live) override;
  Task<Result<std::shared_ptr<LiveSandbox>>> create(SandboxRow row, SandboxEnvironment environment) override;
  Task<Result<SealedFiles>> join_layers(std::vector<std::string> layers) override;
  Task<Result<void>> make_durable(std::string layer) override;
  Task<void> remove_layers(std::vector<std::string> layers) override;
  Task<void> remove_other_layers(std::vector<std::string> known) override;
  std::vector<std::string> kept() override { return engine_.kept_sandboxes(); }
  Task<Result<std::shared_ptr<LiveSandbox>>> take_up(SandboxRow row) override;
  void settle_kept() override { engine_.settle_kept(); }
  std::string why_lost() override { return engine_.why_not_kept(); }

 private:
  Task<Result<NetworkPolicy>> policy_of(const SandboxRow& row);
  Task<GateCredentials> credentials_of_living(const SandboxRow& row);
  // A template with the layers in it, which are held.
  struct Root {
    Template image;
    std::vector<Layer> layers;
    bool single = false;
  };
  Result<Root> root_of(const SandboxRow& row) const;
  // With the placeholders as its environment.
  Task<Result<SandboxSpec>> spec_of(const SandboxRow& row, std::vector<Layer>& layers);

  Engine& engine_;
  LocalHostOptions options_;
};

}  // namespace bj
