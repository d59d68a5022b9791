#include "engine/environments/environments.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

namespace bj {
namespace {

constexpr auto kLockPoll = std::chrono::milliseconds(200);
constexpr auto kBetweenTouches = std::chrono::minutes(1);

// Changes when a generation comes or goes, whoever did it.
int64_t change_time(const std::string& directory) {
  struct stat info{};
  if (::stat(directory.c_str(), &info) != 0) return 0;
  return static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
}

std::map<std::string, std::string> variables_for(Language language, const Template& image) {
  const auto path = image.environment.find("PATH");
  const std::string rest = path == image.environment.end() ? default_path() : path->second;
  const std::string inside = kPackagesInside;
  if (language == Language::kTypeScript) return {{"PATH", inside + "/node_modules/.bin:" + rest}};
  return {{"PATH", inside + "/bin:" + rest}, {"VIRTUAL_ENV", inside}};
}

}  // namespace

// A build that is going on, and who waits for it.
struct Environments::Build {
  using Outcome = std::shared_ptr<Result<Environment>>;

  std::string key;
  BuildJob job;
  Force force = Force::kNo;
  std::map<uint64_t, Progress> listeners;
  std::vector<std::shared_ptr<OneShot<Outcome>>> waiters;
  uint64_t last_listener = 0;
  BuildProgress last;  // for who comes later
  std::shared_ptr<EnvironmentBuilder> builder;

  void tell(const BuildProgress& progress) {
    last = progress;
    const std::map<uint64_t, Progress> now = listeners;  // one of them may leave
    for (const auto& [id, listener] : now) listener(progress);
  }
};

void Environment::apply_to(EnvironmentSpec& spec) const {
  spec.host_packages = path;
  spec.site_dirs.insert(spec.site_dirs.begin(), site_dirs.begin(), site_dirs.end());
  spec.packages_lease = lease;
}

Environments::Environments(Host& host, const std::string& directory)
    : host_(host), store_(directory), directory_(directory), changed_(host.executor) {}

std::optional<Environment> Environments::known(const std::string& key) {
  const auto found = known_.find(key);
  if (found == known_.end() || found->second.change_time != change_time(directory_ + "/" + key)) return {};
  Environment environment = found->second.environment;
  environment.lease = found->second.lease.lock();
  if (!environment.lease) return {};
  return environment;
}

Environment Environments::remember(const std::string& key, StoredEnvironment stored, bool built,
                                   const Template& image) {
  Environment environment;
  environment.key = key;
  environment.path = std::move(stored.packages);
  environment.site_dirs = std::move(stored.record.site_dirs);
  environment.variables = variables_for(stored.record.language, image);
  known_[key] = {environment, stored.lease, change_time(directory_ + "/" + key)};
  environment.lease = std::move(stored.lease);
  environment.built = built;
  return environment;
}

// At most once a minute: it is for people and prune().
void Environments::touch(const std::string& key, const std::string& packages) {
  const Clock::time_point now = Clock::now();
  const auto [last, fresh] = touched_.try_emplace(key, now);
  if (!fresh && now - last->second < kBetweenTouches) return;
  last->second = now;
  (void)store_.touch(packages);
}

Task<Result<Environment>> Environments::ensure(EnvironmentRequest request, Progress progress, Force force) {
  const auto self = shared_from_this();
  BJ_CO_TRY(std::vector<std::string> wanted, normalize_requirements(request.language, request.requirements));
  if (wanted.empty()) co_return Environment();
  const std::string key = environment_key(request.language, request.image, request.interpreter, wanted, request.index);
  if (const auto found = force == Force::kNo ? known(key) : std::nullopt) {
    touch(key, found->path);
    co_return *found;
  }
  if (stopping_) co_return fail(Code::kUnavailable, "the engine is stopping");
  std::shared_ptr<Build> build = building_.contains(key) ? building_.at(key) : nullptr;
  if (!build) {
    build = building_[key] = std::make_shared<Build>();
    build->key = key;
    build->job = {request.language, std::move(request.image), std::move(request.interpreter), std::move(wanted),
                  std::move(request.index)};
    build->force = force;
    spawn(host_.executor, [this, build] { return run(build); });
  }
  BJ_CO_TRY(Environment environment, co_await wait_for(build, std::move(progress)));
  touch(key, environment.path);
  co_return environment;
}

Task<Result<Environment>> Environments::wait_for(std::shared_ptr<Build> build, Progress progress) {
  const uint64_t id = ++build->last_listener;
  if (progress && !build->last.message.empty()) progress(build->last);
  if (progress) build->listeners.emplace(id, std::move(progress));
  const auto waiter = std::make_shared<OneShot<Build::Outcome>>(host_.executor);
  build->waiters.push_back(waiter);
  const Result<Build::Outcome> outcome = co_await waiter->get();
  build->listeners.erase(id);
  if (!outcome) co_return fail(Code::kUnavailable, "interrupted while an environment was built");
  co_return **outcome;
}

// Goes on when the first caller has gone: others may wait, and the next will want it.
Task<void> Environments::run(std::shared_ptr<Build> build) {
  const auto self = shared_from_this();
  const auto outcome = std::make_shared<Result<Environment>>(co_await find_or_build(build));
  building_.erase(build->key);
  for (const auto& waiter : build->waiters) waiter->set(outcome);
  changed_.tell();
}

Task<Result<std::optional<StoredEnvironment>>> Environments::find(std::string key) {
  auto work = [store = store_, key = std::move(key)] { return store.find(key); };
  co_return co_await offload(*host_.workers, std::move(work));
}

Task<Result<BuildLock>> Environments::lock(std::shared_ptr<Build> build) {
  asio::steady_timer timer(host_.executor);
  const auto work = [store = store_, key = build->key] { return store.try_lock(key); };
  for (bool told = false; !stopping_;) {
    BJ_CO_TRY(std::optional<BuildLock> taken, co_await offload(*host_.workers, work));
    if (taken) co_return std::move(*taken);
    if (!told) build->tell({BuildPhase::kWaiting, "another process builds this environment", {}});
    told = true;
    timer.expires_after(kLockPoll);
    (void)co_await expired(timer);
  }
  co_return fail(Code::kUnavailable, "the engine is stopping");
}

Task<Result<Environment>> Environments::find_or_build(std::shared_ptr<Build> build) {
  if (build->force == Force::kNo) {
    BJ_CO_TRY(auto found, co_await find(build->key));
    if (found) co_return remember(build->key, std::move(*found), false, build->job.image);
  }
  BJ_CO_TRY(const BuildLock held, co_await lock(build));
  if (build->force == Force::kNo) {
    BJ_CO_TRY(auto found, co_await find(build->key));
    if (found) co_return remember(build->key, std::move(*found), true, build->job.image);
    if (const auto failure = held.recent_failure()) co_return tl::unexpected(*failure);
  }
  Result<StoredEnvironment> fresh = co_await build_now(build);
  if (!fresh) {
    if (!stopping_) held.note_failure(fresh.error());
    co_return tl::unexpected(fresh.error());
  }
  held.note_success();
  co_return remember(build->key, std::move(*fresh), true, build->job.image);
}

Task<Result<StoredEnvironment>> Environments::build_now(std::shared_ptr<Build> build) {
  auto begin = [store = store_] { return store.stage(); };  // waits for whoever looks for leftovers
  BJ_CO_TRY(Staging made, co_await offload(*host_.workers, std::move(begin)));
  const auto staging = std::make_shared<Staging>(std::move(made));
  ++builds_started_;
  build->builder = std::make_shared<EnvironmentBuilder>(
      host_, build->job, [weak = std::weak_ptr<Build>(build)](const BuildProgress& progress) {
        if (const auto listening = weak.lock()) listening->tell(progress);
      });
  Result<Built> built = co_await build->builder->run(staging->packages());
  if (!built) {
    auto work = [staging] { return staging->discard(); };
    (void)co_await offload(*host_.movers, std::move(work));
    co_return tl::unexpected(built.error());
  }
  EnvironmentRecord record;
  record.key = build->key;
  record.language = build->job.language;
  record.template_name = build->job.image.name;
  record.requirements = build->job.requirements;
  record.site_dirs = std::move(built->site_dirs);
  record.builder_seal = std::move(built->builder_seal);
  record.size_bytes = built->counts.size_bytes;
  record.entries = built->counts.entries;
  record.created = std::chrono::system_clock::now();
  auto work = [store = store_, staging, record] { return store.publish(*staging, record); };
  co_return co_await offload(*host_.movers, std::move(work));
}

Task<void> Environments::stop() {
  const auto self = shared_from_this();
  stopping_ = true;
  while (!building_.empty()) {
    for (const auto& [key, build] : building_) {
      if (build->builder) build->builder->kill();
    }
    co_await changed_.wait_until(Clock::now() + kLockPoll);  // a builder may appear between two looks
  }
}

Task<Result<std::vector<EnvironmentInfo>>> Environments::list() const {
  auto work = [store = store_] { return store.list(); };
  BJ_CO_TRY(const std::vector<StoredEnvironment> all, co_await offload(*host_.workers, std::move(work)));
  std::vector<EnvironmentInfo> out;
  for (const StoredEnvironment& stored : all) {
    const EnvironmentRecord& record = stored.record;
    out.push_back({record.key, record.language, record.template_name, record.requirements, record.size_bytes,
                   record.created, stored.last_used, stored.in_use});
  }
  co_return out;
}

Task<Result<PruneReport>> Environments::prune(PruneRequest request) {
  auto work = [store = store_, request = std::move(request)] { return store.prune(request); };
  co_return co_await offload(*host_.movers, std::move(work));
}

std::string install_failure(Language language, const std::vector<std::string>& sandbox_requirements,
                            const std::vector<std::string>& tool_requirements, const Error& error) {
  std::vector<std::string> parts;
  if (!sandbox_requirements.empty()) {
    parts.push_back(fmt::format("sandbox requirements: {}", fmt::join(sandbox_requirements, ", ")));
  }
  if (!tool_requirements.empty()) {
    parts.push_back(fmt::format("tool requirements: {}", fmt::join(tool_requirements, ", ")));
  }
  return fmt::format(
      "Failed to install {} packages ({}). This may be due to package version incompatibility or a package index that "
      "can't be reached. Consider updating package versions or removing version constraints: {}",
      language == Language::kPython ? "pip" : "npm", fmt::join(parts, "; "), error.what);
}

}  // namespace bj
