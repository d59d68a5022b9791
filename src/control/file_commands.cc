// Commands that keep, copy or exchange a sandbox's files: stop with files, start, snapshot, fork, rollback.
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/compact_id.h"
#include "base/log.h"
#include "control/repeated_request.h"
#include "control/sandbox_manager.h"
#include "control/sandbox_steps.h"
#include "engine/templates/template.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kStopped = "the sandbox is stopped";
constexpr int64_t kMostForks = 100;
constexpr size_t kMostLayers = 8;  // above a root; more are joined. Each may be two of those that the seal takes

// What is wrong with a template's name is wrong with the request.
Code as_asked(Code code) { return code == Code::kInvalid || code == Code::kNotFound ? Code::kUnprocessable : code; }

std::map<std::string, std::string> texts_of(const std::string& object) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : object_of(object)) {
    if (value.is_string()) texts[key] = value.get_string();
  }
  return texts;
}

std::vector<std::string> names_in(const std::string& array) {
  std::vector<std::string> names;
  json::error_code bad;
  const json::value value = json::parse(array, bad);
  if (bad || !value.is_array()) return names;
  for (const json::value& name : value.get_array()) {
    if (name.is_string()) names.emplace_back(name.get_string());
  }
  return names;
}

}  // namespace

Task<Result<void>> SandboxManager::resolve_template(const std::string& organization, NewSandbox& wanted) {
  if (!wanted.image.empty() || wanted.template_name == "base") co_return Result<void>();
  const auto find = [&] { return templates_.resolve_to_spawn(organization, wanted.template_name); };
  const Result<ResolvedTemplate> found = co_await offload(threads_, find);
  if (!found) co_return fail(as_asked(found.error().code), found.error().what);
  wanted.image = image_text({found->content, false, found->id, found->names.empty() ? "" : found->names.front()});
  if (!wanted.cpus && found->cpus > 0) wanted.cpus = found->cpus;
  if (!wanted.memory_bytes && found->memory_bytes > 0) wanted.memory_bytes = found->memory_bytes;
  co_return Result<void>();
}

Task<Result<std::vector<std::string>>> SandboxManager::names_of_template(std::string organization,
                                                                         std::string reference) {
  const auto find = [&]() -> Result<std::vector<std::string>> {
    const auto all = [](std::vector<std::string> names, const std::string& id) {
      names.push_back(id);
      return names;
    };
    // Without a tag the template is meant, whatever tags and builds it has.
    if (reference.find(':') == std::string::npos) {
      if (const Result<TemplateView> own = templates_.own(organization, reference)) return all(own->names, own->row.id);
    }
    BJ_TRY(const ResolvedTemplate found, templates_.resolve(organization, reference));
    return all(found.names, found.id);
  };
  co_return co_await offload(threads_, find);
}

Task<Result<SandboxManager::Standing>> SandboxManager::seal(const Work& work, AfterSeal then) {
  Standing standing;
  BJ_CO_TRY(standing.image, image_of(work.row));
  if (!is_live(state_in(work.row))) co_return standing;
  BJ_CO_TRY(const std::shared_ptr<HeldSandbox> sandbox, co_await held(work.row.organization, work.row.id));
  BJ_CO_TRY(standing.sealed, co_await sandbox->live->seal_files(then));
  standing.image = standing.image.with(standing.sealed->layer);
  std::vector<std::string>& layers = standing.image.content.layers;
  if (layers.size() <= kMostLayers) co_return standing;
  Result<SealedFiles> joined = co_await host_.join_layers(layers);
  co_await discard(std::exchange(standing.sealed, std::nullopt));
  if (!joined) {
    if (then == AfterSeal::kStandStill && state_in(sandbox->row) == SandboxState::kRunning)
      (void)co_await sandbox->live->resume();
    co_return tl::unexpected(joined.error());
  }
  layers = {joined->layer};
  standing.sealed = std::move(*joined);
  co_return standing;
}

Result<void> SandboxManager::note(Transaction& transaction, const std::string& organization,
                                  const SealedFiles& sealed) const {
  const LayerRow layer{sealed.layer, organization, sealed.size_bytes, now()};
  return LayerTable::insert(transaction, layer, options_.quota.stored_bytes);
}

Task<void> SandboxManager::discard(std::optional<SealedFiles> sealed) {
  if (!sealed) co_return;
  std::vector<std::string> layers{sealed->layer};
  sealed.reset();
  co_await host_.remove_layers(std::move(layers));
}

Task<void> SandboxManager::collect(std::vector<std::string> layers) {
  const auto forget = [&] { return layers_.forget_unused(layers); };
  Result<std::vector<std::string>> unused = co_await offload(threads_, forget);
  if (unused) co_await host_.remove_layers(std::move(*unused));
}

Task<void> SandboxManager::collect_unused() {
  const auto forget = [&]() -> Result<std::vector<std::string>> {
    BJ_CHECK(layers_.release_left_over());
    return layers_.forget_unused(std::nullopt);
  };
  Result<std::vector<std::string>> unused = co_await offload(threads_, forget);
  if (unused) co_await host_.remove_layers(std::move(*unused));
}

Task<void> SandboxManager::collect_left_over() {
  const auto work = [&]() -> Result<std::vector<std::string>> {
    BJ_CHECK(layers_.release_left_over());
    BJ_CHECK(layers_.forget_unused(std::nullopt));
    return layers_.all();
  };
  Result<std::vector<std::string>> known = co_await offload(threads_, work);
  if (known) co_await host_.remove_other_layers(std::move(*known));
}

Task<Result<SandboxRow>> SandboxManager::stop_keeping_files(Actor actor, std::string id, MaybeText key) {
  BJ_CO_CHECK(co_await perform(actor, id, "stop", {{"keep", true}}, std::move(key)));
  co_return co_await get(actor.organization, id);
}

// The files first, while it stands still: if they can't be kept it goes on as before.
Task<SandboxManager::Outcome> SandboxManager::end_with_files(Work work) {
  const std::string id = work.row.id;
  BJ_CO_TRY(const std::shared_ptr<HeldSandbox> sandbox, co_await held(work.row.organization, id));
  BJ_CO_TRY(const HeldTurn turn, co_await alone_with(sandbox, LifeEvent::kStop));
  work.row = sandbox->row;
  BJ_CO_TRY(Standing standing, co_await seal(work, AfterSeal::kStandStill));
  standing.image.single = true;
  Result<void> safe = co_await host_.make_durable(standing.sealed->layer);
  const std::string reason(object_of(work.command.payload).contains("expired") ? "its time was over"
                                                                               : "it was stopped");
  const int64_t time = now();
  const auto edit = [&](Transaction& transaction, SandboxRow& row) -> Result<void> {
    if (row.state != work.row.state)  // whoever ends it, or rolls it back, has begun meanwhile
      return fail(Code::kConflict, "the sandbox is " + row.state + ": that can't be done to it now");
    BJ_CHECK(step(row, LifeEvent::kEnded, reason, time));
    BJ_CHECK(note(transaction, row.organization, *standing.sealed));
    row.image = image_text(standing.image);
    row.spare_image.clear();
    row.kept = true;
    BJ_CHECK(CommandTable::finish(transaction, {work.command.id, options_.node}, "{}", time));
    return CommandTable::bury_all_of(transaction, row.id, kStopped, time);
  };
  if (safe) {
    const Result<SandboxRow> row = co_await change(work.row.organization, id, edit);
    if (!row) safe = tl::unexpected(row.error());
  }
  if (!safe) {
    if (state_in(sandbox->row) == SandboxState::kRunning) (void)co_await sandbox->live->resume();
    co_await discard(std::move(standing.sealed));
    co_return tl::unexpected(safe.error());
  }
  deadlines_.forget(id);
  held_.erase(id);
  tell_waiting(id, kStopped, work.command.id);
  co_await sandbox->live->destroy();
  co_return json::object();
}

Task<SandboxManager::Outcome> SandboxManager::start_again(Work work) { return make(std::move(work)); }

Task<Result<SandboxRow>> SandboxManager::rollback(Actor actor, std::string id, std::string snapshot, MaybeText key) {
  const auto find = [&] { return templates_.resolve(actor.organization, snapshot); };
  BJ_CO_TRY(const ResolvedTemplate found, co_await offload(threads_, find));
  const json::object payload{{kAsked, snapshot}, {"snapshot", found.id}, {"image", image_text({found.content, true})}};
  BJ_CO_CHECK(co_await perform(actor, id, "rollback", payload, std::move(key)));
  co_return co_await get(actor.organization, id);
}

// Its row has the snapshot's files since the command began.
Task<SandboxManager::Outcome> SandboxManager::roll_back(Work work) {
  deadlines_.forget(work.row.id);
  if (const auto found = held_.find(work.row.id); found != held_.end()) {
    const std::shared_ptr<HeldSandbox> before = found->second;
    if (!co_await before->turn.enter()) co_return fail(Code::kUnavailable, "the server stops");
    const HeldTurn turn(before->turn);
    held_.erase(work.row.id);
    co_await before->live->destroy();
  }
  co_return co_await make(std::move(work));
}

// A paused sandbox's files, in case its server or its machine ends. A resume before that is done makes them useless.
Task<void> SandboxManager::keep_spare(std::shared_ptr<HeldSandbox> sandbox) {
  Result<SealedFiles> sealed = co_await sandbox->live->seal_files(AfterSeal::kGoOn);
  if (!sealed) co_return;
  Result<void> done = co_await host_.make_durable(sealed->layer);
  const auto edit = [&](Transaction& transaction, SandboxRow& row) -> Result<void> {
    if (state_in(row) != SandboxState::kPaused) return fail(Code::kConflict, "it is paused no more");
    BJ_CHECK(note(transaction, row.organization, *sealed));
    BJ_TRY(SandboxImage image, image_of(row));
    image.single = true;
    row.spare_image = image_text(image.with(sealed->layer));
    return {};
  };
  if (done) {
    const Result<SandboxRow> row = co_await change(sandbox->row.organization, sandbox->row.id, edit);
    if (row) co_return;
    done = tl::unexpected(row.error());
  }
  if (done.error().code != Code::kConflict)
    log_warning("paused_files_not_kept", {{"sandbox", sandbox->row.id}, {"why", done.error().what}});
  co_await discard(std::move(*sealed));
}

Task<Result<SnapshotView>> SandboxManager::snapshot(Actor actor, std::string id, SnapshotWish wanted) {
  BJ_CO_TRY(const json::object outcome,
            co_await perform(actor, id, "snapshot", {{"name", wanted.name}}, std::move(wanted.idempotency_key)));
  co_return co_await get_snapshot(actor.organization, std::string(outcome.at("snapshot").as_string()));
}

// The template, its use of the layers and the command's end are written together.
Task<SandboxManager::Outcome> SandboxManager::take_snapshot(Work work) {
  BJ_CO_TRY(Standing standing, co_await seal(work, AfterSeal::kGoOn));
  NewSnapshot snapshot;
  snapshot.name = object_of(work.command.payload).at("name").as_string();
  snapshot.sandbox = work.row.id;
  snapshot.content = standing.image.content;
  if (!work.row.inside_user.empty()) snapshot.content.user = work.row.inside_user;
  snapshot.cpus = work.row.cpus;
  snapshot.memory_bytes = work.row.memory_bytes;
  json::object outcome;
  const auto also = [&](Transaction& transaction, const TemplateTable::Made& made) -> Result<void> {
    if (standing.sealed) BJ_CHECK(note(transaction, work.row.organization, *standing.sealed));
    BJ_CHECK(LayerTable::set_uses(transaction, LayerTable::build_user(made.build.id), snapshot.content.layers));
    outcome = {{"snapshot", made.row.id}};
    return CommandTable::finish(transaction, {work.command.id, options_.node}, json::serialize(outcome), now());
  };
  Result<void> done;
  if (standing.sealed) done = co_await host_.make_durable(standing.sealed->layer);
  if (done) {
    const auto add = [&] { return templates_.add_snapshot(work.actor, snapshot, also); };
    const Result<TemplateCatalog::Begun> added = co_await offload(threads_, add);
    if (added) co_return outcome;
    done = fail(as_asked(added.error().code), added.error().what, added.error().sys);
  }
  co_await discard(std::move(standing.sealed));
  co_return tl::unexpected(done.error());
}

Result<SnapshotView> SandboxManager::view_of(TemplateView view) {
  SnapshotView out;
  out.view = std::move(view);
  BJ_TRY(const std::vector<TemplateTagRow> tags, templates_.table().tags(out.view.row.id));
  for (const TemplateTagRow& one : tags) out.tags.push_back(one.tag);
  if (!out.view.newest || !out.view.newest->content) return out;
  BJ_TRY(const TemplateContent content, read_content(*out.view.newest->content));
  BJ_TRY(const auto sizes, layers_.sizes(content.layers));
  for (const auto& [layer, size] : sizes) out.size_bytes += size;
  return out;
}

Task<Result<SnapshotView>> SandboxManager::get_snapshot(std::string organization, std::string id_or_name) {
  const auto read = [&]() -> Result<SnapshotView> {
    Result<TemplateView> view = templates_.own(organization, id_or_name);
    if (!view || view->row.kind != "snapshot")
      return fail(Code::kNotFound, "there is no snapshot \"" + id_or_name.substr(0, 255) + "\"");
    return view_of(std::move(*view));
  };
  co_return co_await offload(threads_, read);
}

Task<Result<std::vector<SnapshotView>>> SandboxManager::list_snapshots(std::string organization, MaybeText sandbox,
                                                                       Page page) {
  const auto read = [&]() -> Result<std::vector<SnapshotView>> {
    TemplateFilter filter;
    filter.kind = "snapshot";
    filter.sandbox = sandbox;
    BJ_TRY(const std::vector<TemplateView> views, templates_.list(organization, filter, page));
    std::vector<SnapshotView> snapshots;
    for (const TemplateView& view : views) {
      BJ_TRY(SnapshotView one, view_of(view));
      snapshots.push_back(std::move(one));
    }
    return snapshots;
  };
  co_return co_await offload(threads_, read);
}

Task<Result<void>> SandboxManager::remove_snapshot(Actor actor, std::string id_or_name) {
  BJ_CO_TRY(const SnapshotView snapshot, co_await get_snapshot(actor.organization, id_or_name));
  const std::string id = snapshot.view.row.id;
  const auto remove = [&]() -> Result<void> {
    BJ_TRY(const bool tag_alone, templates_.remove_one_of_its_tags(actor.organization, id_or_name));
    if (!tag_alone) BJ_CHECK(templates_.remove(actor.organization, id));
    return {};
  };
  BJ_CO_CHECK(co_await offload(threads_, remove));
  co_await collect_unused();
  Event event;
  event.kind = EventKind::kAdministration;
  event.action = "snapshot.delete";
  event.actor = actor;
  event.subject = id;
  event.outcome = "success";
  audit_.add(event);
  co_return Result<void>();
}

// Everything that a sandbox was asked for with, for another.
Task<Result<NewSandbox>> SandboxManager::like(const SandboxRow& parent) {
  NewSandbox wanted;
  wanted.template_name = parent.template_name;
  wanted.timeout_s = parent.timeout_s;
  wanted.on_timeout = parent.on_timeout;
  wanted.metadata = texts_of(parent.metadata);
  wanted.user = parent.inside_user;
  wanted.cpus = parent.cpus;
  wanted.memory_bytes = parent.memory_bytes;
  wanted.disk_bytes = parent.disk_bytes;
  wanted.processes = parent.processes;
  wanted.network = parent.network;
  wanted.credentials = names_in(parent.credentials);
  wanted.access = parent.access;
  wanted.wakes = parent.wakes;
  wanted.details = parent.details;
  wanted.wishes = wishes_of(parent.options);
  wanted.wishes.git = {};  // it is among the files
  const auto read = [&] { return sandboxes_.variables(parent.organization, parent.id); };
  BJ_CO_TRY(const std::vector<VariableRow> variables, co_await offload(threads_, read));
  for (const VariableRow& variable : variables) wanted.environment[variable.key] = variable.value.reveal();
  co_return wanted;
}

Task<Result<std::vector<Forked>>> SandboxManager::fork(Actor actor, std::string id, NewForks wanted) {
  if (wanted.count < 1 || wanted.count > kMostForks)
    co_return fail(Code::kUnprocessable, "count must be from 1 to " + std::to_string(kMostForks));
  const int64_t longest = options_.longest_timeout_s;
  if (wanted.timeout_s && (*wanted.timeout_s < 1 || *wanted.timeout_s > longest))
    co_return fail(Code::kUnprocessable, "timeout, in seconds, must be from 1 to " + std::to_string(longest));
  json::object payload{{"count", wanted.count}};
  if (wanted.timeout_s) payload["timeout"] = *wanted.timeout_s;
  BJ_CO_TRY(const json::object outcome,
            co_await perform(actor, id, "fork", std::move(payload), std::move(wanted.idempotency_key)));
  std::vector<Forked> forks;
  for (const json::value& one : outcome.at("sandboxes").as_array()) {
    Forked fork;
    if (const json::value* const made = one.as_object().if_contains("id")) fork.id = made->as_string();
    if (const json::value* const error = one.as_object().if_contains("error")) fork.error = error->as_string();
    forks.push_back(std::move(fork));
  }
  co_return forks;
}

// The command itself uses new layers until each of the new ones does. Each of these has a key of its own: tried again
// after a crash, those that are there are found. So neither the command's end nor the disk need be waited for.
Task<SandboxManager::Outcome> SandboxManager::fork_off(Work work) {
  const json::object payload = object_of(work.command.payload);
  BJ_CO_TRY(NewSandbox wanted, co_await like(work.row));
  if (const json::value* const timeout = payload.if_contains("timeout")) wanted.timeout_s = timeout->as_int64();
  BJ_CO_TRY(Standing standing, co_await seal(work, AfterSeal::kGoOn));
  standing.image.single = true;
  wanted.image = image_text(standing.image);
  const auto begin_uses = [&](Transaction& transaction, SandboxRow& row) -> Result<void> {
    BJ_CHECK(note(transaction, row.organization, *standing.sealed));
    return LayerTable::set_uses(transaction, work.command.id, standing.image.content.layers);
  };
  if (standing.sealed) {
    const Result<SandboxRow> row =
        co_await change(work.row.organization, work.row.id, begin_uses, Durability::kWithTheNext);
    if (!row) {
      co_await discard(std::move(standing.sealed));
      co_return tl::unexpected(row.error());
    }
  }
  json::array made;
  for (int64_t i = 0; i < payload.at("count").as_int64(); ++i) {
    NewSandbox one = wanted;
    one.idempotency_key = work.command.id + "/" + std::to_string(i);
    const Result<SandboxRow> row = co_await create(work.actor, std::move(one));
    made.push_back(row ? json::object{{"id", row->id}} : json::object{{"error", row.error().what}});
  }
  const json::object outcome{{"sandboxes", std::move(made)}};
  const auto edit = [&](Transaction& transaction, SandboxRow&) -> Result<void> {
    BJ_CHECK(LayerTable::set_uses(transaction, work.command.id, {}));
    return CommandTable::finish(transaction, {work.command.id, options_.node}, json::serialize(outcome), now());
  };
  // Lost with the machine, it is carried out again and finds these sandboxes by their keys.
  const Result<SandboxRow> ended = co_await change(work.row.organization, work.row.id, edit, Durability::kWithTheNext);
  if (!ended) co_await collect_unused();  // the parent was deleted meanwhile
  if (standing.sealed) run([this, sealed = *standing.sealed] { return settle_fork(sealed); });
  co_return outcome;
}

Task<void> SandboxManager::settle_fork(SealedFiles sealed) {
  const std::string layer = sealed.layer;
  (void)co_await host_.make_durable(layer);
  sealed.hold.reset();
  co_await collect({layer});  // none of the forks may have been made
}

}  // namespace bj
