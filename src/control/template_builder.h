// Builds templates: each in sandboxes, a group of steps in each (build_plan.h), whose files become a layer. What the
// same steps led to before is taken instead of done again.
//
// A build goes on in the background; its log is kept in memory while it does and in the store. It ends as `ready` with
// its tags meaning it, or as `error` with the step and a sentence. One whose server died is an error, told by the next
// server.
//
// Stays on the server's thread; the database is asked on the store's threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "audit/audit_log.h"
#include "base/change.h"
#include "control/build_log.h"
#include "control/build_sandbox.h"
#include "control/template_catalog.h"
#include "control/template_files.h"
#include "control/template_request.h"
#include "images/image_puller.h"

namespace bj {

struct BuilderOptions {
  std::string node;  // this server, "<machine>/<instance>"
  Limits limits;     // of a build's sandboxes
  // What a build of an organization over some content may reach, with the package indexes for one that may reach
  // nothing else. Blocks: it is called on a worker.
  std::function<Result<NetworkPolicy>(const std::string& organization, const TemplateContent& content,
                                      NetworkPolicy packages)>
      network;
  std::function<Task<NetworkPolicy>()> packages;                             // the package indexes
  std::function<Task<void>(std::vector<std::string> layers)> remove_layers;  // that nobody uses any more
  std::function<void()> template_gone;                                       // what only it used may go
  int64_t most_layer_bytes = 0;                                              // of an organization; 0: no limit
  std::map<std::string, std::string> environment;                            // of RUN steps: where the indexes are
  std::function<int64_t()> now;                                              // microseconds since the epoch
  std::function<bool(const std::string& node)> node_is_dead;
  std::map<std::string, std::string> images;  // names of images that are templates here
  size_t most_at_once = 2;                    // others wait for their turn
  size_t most_waiting = 64;
  size_t most_layers = 12;  // of a template
  std::chrono::seconds step_time{3600};
  std::chrono::seconds ready_time{600};
};

class TemplateBuilder {
 public:
  // The referenced must outlive it.
  TemplateBuilder(Engine& engine, TemplateCatalog& catalog, TemplateFiles& files, ImagePuller& puller, Store& store,
                  asio::thread_pool& threads, AuditLog& audit, BuilderOptions options);

  // Tells what a dead server left unfinished.
  Task<Result<void>> start();
  // Kills what is being built and waits for it.
  Task<void> stop();

  // Begins a build that add_build() made. It is `building` when this returns.
  Task<Result<TemplateBuildRow>> begin(Actor actor, std::string template_id, std::string build, BuildRequest request,
                                       RegistryLogin login);
  // An image as a template of the actor's organization, pulled if it is not here: the reference to make a sandbox of.
  Task<Result<std::string>> of_image(Actor actor, std::string image, RegistryLogin login, PullProgress progress);
  // Ends it as an error. kConflict: it is over.
  Result<void> cancel(const std::string& organization, const std::string& build);
  // Removes a template of the actor's organization, with what only it used.
  Task<Result<void>> remove(Actor actor, std::string reference);
  // Of one that is going on here; else nothing, and the store has it.
  std::shared_ptr<BuildLog> log_of(const std::string& build) const;
  // Waits until nothing is being built. For tests.
  Task<void> settle();

 private:
  struct Run;
  struct Step;

  Task<void> carry_out(std::shared_ptr<Run> run);
  Task<Result<TemplateContent>> build(std::shared_ptr<Run> run);
  Task<Result<TemplateContent>> beginning(std::shared_ptr<Run> run);
  Task<Result<void>> do_group(std::shared_ptr<Run> run, std::vector<size_t> steps, TemplateContent& content);
  Task<Result<void>> do_steps(std::shared_ptr<Run> run, std::vector<size_t>& steps, TemplateContent& content);
  Task<Result<void>> seal(std::shared_ptr<Run> run, BuildSandbox& sandbox, TemplateContent& content);
  Task<Result<void>> check_start(std::shared_ptr<Run> run, const TemplateContent& content);
  Task<Result<std::shared_ptr<BuildSandbox>>> open(std::shared_ptr<Run> run, const TemplateContent& content);
  Task<Result<void>> take_turn(std::shared_ptr<Run> run);
  Task<void> write_logs(std::shared_ptr<Run> run);
  Task<void> remove_unused_layers();
  void say(Run& run, std::string_view level, std::string_view message);

  Engine& engine_;
  TemplateCatalog& catalog_;
  TemplateFiles& files_;
  ImagePuller& puller_;
  LayerTable layers_;
  asio::thread_pool& threads_;
  AuditLog& audit_;
  BuilderOptions options_;
  std::map<std::string, std::shared_ptr<Run>> runs_;  // by build
  size_t at_work_ = 0;
  Change changed_;  // told when a build ends
  bool stopping_ = false;
};

}  // namespace bj
