#include "control/template_builder.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include "base/log.h"
#include "control/build_plan.h"
#include "engine/import/import_digest.h"

namespace bj {
namespace {

constexpr const char* kBase = "base";
constexpr const char* kFinalize = "finalize";
constexpr auto kBetweenLogWrites = std::chrono::milliseconds(300);
// Without a use. What steps wrote lies on disk and counts against what its organization may store.
constexpr int64_t kStepsKept = int64_t{7} * 24 * 3600 * 1'000'000;

std::vector<std::string> tags_in(const std::string& text) {
  std::vector<std::string> tags;
  boost::json::error_code bad;
  const boost::json::value value = boost::json::parse(text, bad);
  if (bad || !value.is_array()) return {kDefaultTag};
  for (const boost::json::value& tag : value.get_array()) tags.emplace_back(tag.as_string());
  return tags;
}

std::string with_spaces(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!word.empty()) text += " " + word;
  }
  return text;
}

}  // namespace

// One build under way.
struct TemplateBuilder::Run {
  Run(const asio::any_io_executor& executor, Actor its_actor)
      : actor(std::move(its_actor)), log(std::make_shared<BuildLog>(executor)) {}

  Actor actor;
  TemplateBuildRow row;
  BuildRequest request;
  RegistryLogin login;
  ImageHold image;  // that it begins with, until its end is written
  std::shared_ptr<BuildLog> log;
  TemplateContent beneath;                // what it begins with
  std::string step = kBase;               // where it is
  std::shared_ptr<BuildSandbox> sandbox;  // of the group that is being done
  bool cancelled = false;
  size_t written = 0;  // log entries in the store
  size_t cached = 0, done = 0;
};

TemplateBuilder::TemplateBuilder(Engine& engine, TemplateCatalog& catalog, TemplateFiles& files, ImagePuller& puller,
                                 Store& store, asio::thread_pool& threads, AuditLog& audit, BuilderOptions options)
    : engine_(engine),
      catalog_(catalog),
      files_(files),
      puller_(puller),
      layers_(store.database()),
      threads_(threads),
      audit_(audit),
      options_(std::move(options)),
      changed_(engine.host().executor) {}

Task<Result<void>> TemplateBuilder::start() {
  const auto settle_dead = [this]() -> Result<void> {
    BJ_TRY(const std::vector<TemplateBuildRow> rows, catalog_.builds().building());
    for (const TemplateBuildRow& row : rows) {
      const bool dead = !row.node || *row.node == options_.node || options_.node_is_dead(*row.node);
      if (dead)
        BJ_CHECK(catalog_.builds().fail_with(row.id, "", "the server ended while it was being built: build it again",
                                             options_.now()));
    }
    return {};
  };
  BJ_CO_CHECK(co_await offload(threads_, settle_dead));
  co_await remove_unused_layers();
  co_return Result<void>();
}

Task<void> TemplateBuilder::stop() {
  stopping_ = true;
  for (const auto& [id, run] : runs_) {
    run->cancelled = true;
    if (run->sandbox) run->sandbox->kill();
  }
  changed_.tell();
  co_await settle();
}

Task<void> TemplateBuilder::settle() {
  while (!runs_.empty()) co_await changed_.wait();
}

std::shared_ptr<BuildLog> TemplateBuilder::log_of(const std::string& build) const {
  const auto found = runs_.find(build);
  return found == runs_.end() ? nullptr : found->second->log;
}

void TemplateBuilder::say(Run& run, std::string_view level, std::string_view message) {
  run.log->add(options_.now(), level, run.step, message);
}

Task<Result<TemplateBuildRow>> TemplateBuilder::begin(Actor actor, std::string template_id, std::string build,
                                                      BuildRequest request, RegistryLogin login) {
  if (stopping_) co_return fail(Code::kUnavailable, "the server stops");
  if (runs_.size() >= options_.most_waiting)
    co_return fail(Code::kExhausted, "too many builds are under way: wait for one");
  BJ_CO_CHECK(check_request(request));
  BJ_CO_CHECK(co_await audit_.admit());
  const std::string text = request_text(request);
  const auto write = [&]() -> Result<TemplateBuildRow> {
    BJ_CHECK(catalog_.table().get(actor.organization, template_id));
    return catalog_.builds().begin(template_id, build, options_.node, text, options_.now());
  };
  BJ_CO_TRY(TemplateBuildRow row, co_await offload(threads_, write));
  const auto run = std::make_shared<Run>(engine_.host().executor, std::move(actor));
  run->row = row;
  run->request = std::move(request);
  run->login = std::move(login);
  runs_[row.id] = run;
  spawn(engine_.host().executor, [this, run] { return carry_out(run); });
  spawn(engine_.host().executor, [this, run] { return write_logs(run); });
  co_return row;
}

Task<Result<std::string>> TemplateBuilder::of_image(Actor actor, std::string image, RegistryLogin login,
                                                    PullProgress progress) {
  if (const auto known = options_.images.find(image); known != options_.images.end()) co_return known->second;
  BJ_CO_CHECK(co_await audit_.admit());
  BJ_CO_TRY(const PulledImage pulled, co_await puller_.pull(image, std::move(login), std::move(progress)));
  NewSnapshot content;
  content.name = "image-" + sha256_hex(image).substr(0, 32);
  content.kind = "template";
  content.content.root = "image:" + pulled.digest;
  const auto add = [&]() -> Result<bool> {
    const auto there = catalog_.resolve(actor.organization, content.name);
    if (there && there->content.root == content.content.root) return false;
    BJ_CHECK(catalog_.add_snapshot(actor, content));
    return true;
  };
  BJ_CO_TRY(const bool added, co_await offload(threads_, add));
  if (added)
    BJ_CO_CHECK(co_await audit_.act(std::move(actor), "template.pull", content.name,
                                    {{"image", short_name(image)}, {"digest", "sha256:" + pulled.digest}}));
  co_return content.name;
}

Result<void> TemplateBuilder::cancel(const std::string& organization, const std::string& build) {
  const auto found = runs_.find(build);
  if (found == runs_.end() || found->second->actor.organization != organization)
    return fail(Code::kConflict, "the build is not going on");
  found->second->cancelled = true;
  if (found->second->sandbox) found->second->sandbox->kill();
  changed_.tell();
  return {};
}

// What it says goes to the store in batches; the last one when it is over.
Task<void> TemplateBuilder::write_logs(std::shared_ptr<Run> run) {
  asio::steady_timer pause(engine_.host().executor);
  for (;;) {
    const bool last = run->log->closed();
    const std::vector<BuildLogRow> fresh(run->log->entries().begin() + static_cast<ptrdiff_t>(run->written),
                                         run->log->entries().end());
    if (!fresh.empty()) {
      const auto write = [&] { return catalog_.builds().add_logs(run->row.id, fresh); };
      const Result<void> written = co_await offload(threads_, write);
      if (!written) log_warning("template_log_not_written", {{"build", run->row.id}, {"why", written.error().what}});
    }
    run->written += fresh.size();
    if (last) break;
    pause.expires_after(kBetweenLogWrites);
    (void)co_await expired(pause);
  }
  runs_.erase(run->row.id);
  changed_.tell();
}

Task<Result<void>> TemplateBuilder::take_turn(std::shared_ptr<Run> run) {
  if (at_work_ >= options_.most_at_once) say(*run, "info", "waiting for other builds to end");
  while (at_work_ >= options_.most_at_once && !run->cancelled) co_await changed_.wait();
  ++at_work_;
  co_return Result<void>();
}

Task<void> TemplateBuilder::carry_out(std::shared_ptr<Run> run) {
  (void)co_await take_turn(run);
  Result<TemplateContent> content = co_await build(run);
  if (run->cancelled)
    content = fail(Code::kUnavailable,
                   stopping_ ? "the server ended while it was being built: build it again" : "the build was cancelled");
  const int64_t now = options_.now();
  const auto conclude = [&]() -> Result<void> {
    if (!content) return catalog_.builds().fail_with(run->row.id, run->step, content.error().what, now);
    return catalog_.succeed(run->row, *content, tags_in(run->row.tags), now);
  };
  say(*run, content ? "info" : "error", content ? "Build finished" : "Build failed: " + content.error().what);
  const Result<void> concluded = co_await offload(threads_, conclude);
  if (!concluded) log_warning("template_build_lost", {{"build", run->row.id}, {"why", concluded.error().what}});
  Event event;
  event.action = "template.build";
  event.actor = run->actor;
  event.subject = run->row.template_id;
  event.outcome = content && concluded ? "success" : "error";
  event.detail = {{"build", run->row.id},
                  {"steps", run->request.steps.size()},
                  {"groups_done", run->done},
                  {"groups_cached", run->cached}};
  audit_.add(event);
  run->image.reset();  // a row refers to it now, or nobody does
  co_await remove_unused_layers();
  if (!content) options_.template_gone();
  run->log->close();
  --at_work_;
  changed_.tell();
}

// What it begins with: an image, pulled if it is not here, or a template.
Task<Result<TemplateContent>> TemplateBuilder::beginning(std::shared_ptr<Run> run) {
  std::string from = run->request.from_template;
  if (const auto known = options_.images.find(run->request.from_image); known != options_.images.end())
    from = known->second;
  if (from.empty() && !run->request.from_image.empty()) {
    const auto tell = [this, run](const std::string& line) { say(*run, "info", line); };
    BJ_CO_TRY(const PulledImage pulled, co_await puller_.pull(run->request.from_image, std::move(run->login), tell));
    TemplateContent content;
    content.root = "image:" + pulled.digest;
    run->image = pulled.hold;
    co_return content;
  }
  if (from.empty()) from = kBase;
  say(*run, "info", "FROM template " + from);
  const auto find = [&] { return catalog_.resolve(run->actor.organization, from); };
  BJ_CO_TRY(ResolvedTemplate resolved, co_await offload(threads_, find));
  co_return std::move(resolved.content);
}

Task<Result<std::shared_ptr<BuildSandbox>>> TemplateBuilder::open(std::shared_ptr<Run> run,
                                                                  const TemplateContent& content) {
  if (run->cancelled) co_return fail(Code::kUnavailable, "the build was cancelled");
  struct Prepared {
    HeldTemplate held;
    NetworkPolicy network;
  };
  NetworkPolicy packages = co_await options_.packages();
  const auto prepare = [&]() -> Result<Prepared> {
    Prepared prepared;
    BJ_TRY(prepared.held, catalog_.image_of(run->row.template_id, content));
    BJ_TRY(prepared.network, options_.network(run->actor.organization, run->beneath, std::move(packages)));
    return prepared;
  };
  BJ_CO_TRY(Prepared prepared, co_await offload(threads_, prepare));
  BuildSandboxOptions options;
  options.limits = options_.limits;
  options.limits.wall_ms = 0;
  options.network = std::move(prepared.network);
  options.environment = options_.environment;
  BJ_CO_TRY(run->sandbox, co_await BuildSandbox::create(engine_, std::move(prepared.held), std::move(options)));
  if (run->cancelled) run->sandbox->kill();
  co_return run->sandbox;
}

// A layer of what was written, if anything was.
Task<Result<void>> TemplateBuilder::seal(std::shared_ptr<Run> run, BuildSandbox& sandbox, TemplateContent& content) {
  BJ_CO_TRY(const Layer layer, co_await sandbox.sandbox().seal_layer(engine_.layers(), AfterSeal::kStandStill));
  if (layer.trees.empty()) {
    co_await options_.remove_layers({layer.id});
    co_return Result<void>();
  }
  std::vector<std::string> used = content.layers;
  used.push_back(layer.id);
  const auto keep = [&] { return engine_.layers().make_durable(layer.id); };
  const auto record = [&]() -> Result<void> {
    const LayerRow row{layer.id, run->actor.organization, static_cast<int64_t>(layer.counts.size_bytes),
                       options_.now()};
    return catalog_.builds().add_layer(run->row.id, row, used, options_.most_layer_bytes);
  };
  Result<void> recorded = co_await offload(*engine_.host().movers, keep);
  if (recorded) recorded = co_await offload(threads_, record);
  if (!recorded) {
    co_await options_.remove_layers({layer.id});
    co_return recorded;
  }
  content.layers = std::move(used);
  co_return Result<void>();
}

Task<void> TemplateBuilder::remove_unused_layers() {
  const auto forget = [this]() -> Result<std::vector<std::string>> {
    BJ_CHECK(catalog_.builds().drop_cache(options_.now() - kStepsKept));
    return layers_.forget_unused(std::nullopt);
  };
  Result<std::vector<std::string>> unused = co_await offload(threads_, forget);
  if (unused && !unused->empty()) co_await options_.remove_layers(std::move(*unused));
}

Task<Result<void>> TemplateBuilder::remove(Actor actor, std::string reference) {
  const auto erase = [&] { return catalog_.remove(actor.organization, reference); };
  BJ_CO_TRY(const TemplateView view, co_await offload(threads_, erase));
  for (const auto& [id, run] : runs_) {
    if (run->row.template_id == view.row.id) (void)cancel(actor.organization, id);
  }
  co_await remove_unused_layers();
  options_.template_gone();
  co_return co_await audit_.act(std::move(actor), "template.delete", view.row.id);
}

// Does as many of the steps as this sandbox can, takes them off the list and seals what they wrote.
Task<Result<void>> TemplateBuilder::do_steps(std::shared_ptr<Run> run, std::vector<size_t>& steps,
                                             TemplateContent& content) {
  BJ_CO_TRY(const std::shared_ptr<BuildSandbox> sandbox, co_await open(run, content));
  Result<void> done;
  while (done && !steps.empty() && !sandbox->made_account()) {
    const BuildStep& step = run->request.steps[steps.front()];
    run->step = std::to_string(steps.front() + 1);
    say(*run, "info", std::string(step_name(step.kind)) + with_spaces(step.arguments));
    Fd archive;
    if (step.kind == StepKind::kCopy) {
      Result<Fd> opened = files_.open(run->actor.organization, step.files);
      if (opened) archive = std::move(*opened);
      if (!opened) done = tl::unexpected(opened.error());
    }
    sandbox->sandbox().expire_at(Clock::now() + options_.step_time);
    const auto output = [this, run](std::string_view level, std::string_view line) { say(*run, level, line); };
    if (done) done = co_await sandbox->perform(step, content, std::move(archive), output);
    if (done) steps.erase(steps.begin());
  }
  if (done) done = co_await seal(run, *sandbox, content);
  co_await sandbox->destroy();
  run->sandbox.reset();
  co_return done;
}

Task<Result<void>> TemplateBuilder::do_group(std::shared_ptr<Run> run, std::vector<size_t> steps,
                                             TemplateContent& content) {
  while (!steps.empty()) BJ_CO_CHECK(co_await do_steps(run, steps, content));
  co_return Result<void>();
}

Task<Result<void>> TemplateBuilder::check_start(std::shared_ptr<Run> run, const TemplateContent& content) {
  run->step = kFinalize;
  if (content.start_command.empty() && content.ready_command.empty()) co_return Result<void>();
  say(*run, "info", "Starting it once, to see that it becomes ready");
  BJ_CO_TRY(const std::shared_ptr<BuildSandbox> sandbox, co_await open(run, content));
  const auto output = [this, run](std::string_view level, std::string_view line) { say(*run, level, line); };
  const Result<void> ready = co_await sandbox->become_ready(content, options_.ready_time, output);
  co_await sandbox->destroy();
  run->sandbox.reset();
  co_return ready;
}

Task<Result<TemplateContent>> TemplateBuilder::build(std::shared_ptr<Run> run) {
  BJ_CO_TRY(run->beneath, co_await beginning(run));
  TemplateContent content = run->beneath;
  content.networks.clear();  // of no account to what steps lead to
  const std::string& organization = run->actor.organization;
  // The machine's own system changes under its name: its layers' paths tell.
  std::string identity = content_text(content);
  const auto look = [&] { return catalog_.image_of("", content); };
  BJ_CO_TRY(const HeldTemplate held, co_await offload(threads_, look));
  for (const TemplateLayer& layer : held.image.layers) identity += "\n" + layer.path;
  if (content.layers.size() >= options_.most_layers)
    co_return fail(Code::kInvalid, "what it begins with has as many layers as a template may have");
  const size_t room = std::min<size_t>(6, options_.most_layers - content.layers.size());
  content.start_command.clear();
  content.ready_command.clear();
  for (const BuildGroup& group : plan_build(run->request, sha256_hex(identity), room)) {
    run->step = std::to_string(group.steps.front() + 1);
    if (run->cancelled) co_return fail(Code::kUnavailable, "the build was cancelled");
    std::optional<TemplateContent> known;
    const auto find = [&] { return catalog_.cached(organization, group.chain); };
    if (!group.force) {
      BJ_CO_TRY(known, co_await offload(threads_, find));
    }
    if (known) {
      for (const size_t step : group.steps) {
        run->step = std::to_string(step + 1);
        say(*run, "info",
            "CACHED " + std::string(step_name(run->request.steps[step].kind)) +
                with_spaces(run->request.steps[step].arguments));
      }
      content = std::move(*known);
      ++run->cached;
      continue;
    }
    BJ_CO_CHECK(co_await do_group(run, group.steps, content));
    const auto remember = [&] { return catalog_.remember(organization, group.chain, content); };
    BJ_CO_CHECK(co_await offload(threads_, remember));
    ++run->done;
  }
  content.start_command = run->request.start_command;
  content.ready_command = run->request.ready_command;
  content.networks = run->beneath.networks;
  BJ_CO_CHECK(co_await check_start(run, content));
  co_return content;
}

}  // namespace bj
