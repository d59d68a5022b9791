#include "engine/engine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>

#include "base/exact_json.h"
#include "engine/calls/gated_python_source.h"
#include "engine/calls/node_source.h"
#include "engine/calls/python_source.h"
#include "engine/embedded.h"
#include "engine/environments/environments.h"
#include "engine/instance_alive.h"
#include "launcher/gate_control.h"
#include "launcher/keeper_door.h"
#include "launcher/launcher.h"
#include "sys/files.h"
#include "sys/rlimit.h"

namespace bj {
namespace {

constexpr size_t kMaxPools = 16;
constexpr size_t kWorkers = 2;
constexpr size_t kMovers = 8;  // mostly they wait for the disk
constexpr size_t kCopies = 4;
constexpr const char* kCgroupName = "belljar";

// The disk that holds a directory, as cgroups name it: the whole device, not the partition (minor 0 is what ours is).
std::string device_of(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || major(info.st_dev) == 0) return {};
  std::string name = fmt::format("{}:{}", major(info.st_dev), minor(info.st_dev));
  const Result<std::string> disk =
      read_file("/sys/dev/block/" + name + "/../dev");  // of the disk if this is a partition
  if (disk && disk->find(':') != std::string::npos) return disk->substr(0, disk->find('\n'));
  return name;
}

// What decides whether two calls may share a pool.
std::string pool_key(const CallSpec& spec) {
  const Limits& l = spec.limits;
  std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|", spec.language == Language::kPython ? "py" : "ts",
                                spec.environment.image.name, spec.environment.interpreter,
                                spec.environment.host_packages, l.memory_bytes, l.processes, l.cpus, l.open_files,
                                l.disk_bytes, l.cpu_ms, spec.network.allows_nothing() ? "" : "gated");
  for (const auto* list : {&spec.environment.site_dirs, &spec.environment.preload}) {
    for (const std::string& item : *list) key.append(item).append(1, '\0');  // which no item contains
    key += "|";
  }
  for (const TemplateLayer& layer : spec.environment.image.layers) key.append(layer.path).append(1, '\0');
  return key;
}

Result<void> check_arguments(const CallSpec& spec) {
  for (const auto& argument : spec.arguments) {
    if (!is_finite(argument.value())) return fail(Code::kInvalid, "an argument holds a number that is too large");
  }
  size_t size = boost::json::serialize(spec.arguments).size() + spec.source.size();
  if (spec.letta) {
    size += boost::json::serialize(spec.letta->agent_state).size();
    size += boost::json::serialize(spec.letta->args_json_schema).size();
    if (spec.letta->properties) size += boost::json::serialize(*spec.letta->properties).size();
  }
  if (size > spec.limits.argument_bytes) {
    return fail(Code::kInvalid,
                fmt::format("source and arguments are {} MiB together; the limit is {} MiB: put large data into a file",
                            size >> 20, spec.limits.argument_bytes >> 20));
  }
  return {};
}

}  // namespace

Engine::Engine(asio::io_context& context, EngineOptions options, Abilities abilities, Start start)
    : options_(std::move(options)),
      goes_on_(start.goes_on),
      why_not_kept_(std::move(start.why_not)),
      workers_(kWorkers),
      movers_(kMovers),
      templates_(options_.data_directory + "/templates"),
      layers_(options_.data_directory + "/layers") {
  host_.executor = context.get_executor();
  host_.workers = &workers_;
  host_.movers = &movers_;
  host_.copies = std::make_unique<Turn>(host_.executor, kCopies);
  host_.abilities = std::move(abilities);
  host_.launcher = std::make_unique<LauncherClient>(host_.executor, std::move(start.launcher), start.keeps);
#ifdef BELLJAR_TEST_SWITCHES
  host_.without = options_.without;
#endif
}

Engine::~Engine() {
  workers_.join();
  movers_.join();
}

Result<std::unique_ptr<Engine>> Engine::create(asio::io_context& context, EngineOptions options) {
  raise_open_file_limit();
#ifdef BELLJAR_TEST_SWITCHES
  switch_off_in_gates(options.without);  // before the launcher is cloned
#endif
  Abilities abilities = probe_abilities();
  BJ_TRY(Start start, find_launcher(options));
  return std::unique_ptr<Engine>(new Engine(context, std::move(options), std::move(abilities), std::move(start)));
}

Result<Engine::Start> Engine::find_launcher(const EngineOptions& options) {
  Start start;
  Found found;
  if (options.keeps_sandboxes) {
    BJ_CHECK(make_directories(options.data_directory, 0700));
    BJ_TRY(found, find_keeper(options.data_directory, own_build()));
  }
  start.goes_on = found.keeper.ok();
  start.keeps = start.goes_on || found.door;
  start.why_not = std::move(found.ended);
  start.launcher = std::move(found.keeper);
  if (!start.goes_on) {
    BJ_TRY(start.launcher, start_launcher(embedded_warden(), std::move(found.door)));
  }
  return start;
}

Task<Result<void>> Engine::start() {
  if (goes_on_) {
    BJ_CO_TRY(kept_, co_await host_.launcher->list());
  }
  BJ_CO_CHECK(open_data_directory());
  cgroup_root_ = CgroupRoot::open(kCgroupName, device_of(options_.data_directory), given_cgroup_);
  host_.cgroups = std::make_shared<CgroupPool>(cgroup_root_, group_prefix());
#ifdef BELLJAR_TEST_SWITCHES
  host_.cgroups->leave_out(options_.without);
#endif
  instance_.clean_after_dead([this](const std::string& dead) { return cgroup_root_->remove_leftovers(dead + "-"); });
  BJ_CO_CHECK(open_uids());
  keep_own();
  BJ_CO_TRY(const std::string runtimes, install_runtimes(options_.data_directory + "/runtimes"));
  BJ_CO_TRY(host_.runtimes_layer, co_await host_.launcher->add_layer(runtimes));
  sandboxes_ = std::make_shared<SandboxPool>(host_, options_.sandboxes_ahead);
  environments_ = std::make_shared<Environments>(host_, options_.data_directory + "/environments");
  environments_->remove_leftovers();
  co_return Result<void>();
}

// As root, instances are known machine-wide: whoever starts next cleans after one that was killed, whatever data
// directory it had.
Result<void> Engine::open_data_directory() {
  // 0700: template files owned by root lie in it, setuid ones of imported images included.
  BJ_CHECK(make_directories(options_.data_directory, 0700));
  return take_instance();
}

// Pools cost memory: beyond a number, the one that was not used for the longest time goes.
void Engine::retire_pools() {
  std::erase_if(retired_, [](const auto& pool) { return pool.use_count() == 1; });
  if (pools_.size() < kMaxPools) return;
  auto oldest = pools_.end();
  for (auto at = pools_.begin(); at != pools_.end(); ++at) {
    if (at->second->busy() || (oldest != pools_.end() && at->second->last_used() > oldest->second->last_used()))
      continue;
    oldest = at;
  }
  if (oldest == pools_.end()) return;
  const std::shared_ptr<Pool> pool = oldest->second;
  pools_.erase(oldest);
  retired_.push_back(pool);
  spawn(host_.executor, [pool]() -> Task<void> { co_await pool->stop(); });
}

std::shared_ptr<Pool> Engine::pool_for(const CallSpec& spec) {
  if (!pools_.contains(pool_key(spec))) retire_pools();
  std::shared_ptr<Pool>& pool = pools_[pool_key(spec)];
  if (!pool) pool = make_pool(spec);
  return pool;
}

// What a call may reach comes when it takes its process: one pool serves all policies.
std::shared_ptr<Pool> Engine::make_pool(const CallSpec& spec) {
  const bool gated = !spec.network.allows_nothing();
  const bool python = spec.language == Language::kPython;
  std::unique_ptr<RunnerSource> source;
  if (!python) {
    const auto network = gated ? RunnerNetwork::kGated : RunnerNetwork::kOwn;
    source = std::make_unique<NodeSource>(host_, spec.environment, spec.limits, network);
  } else if (gated) {
    source = std::make_unique<GatedPythonSource>(host_, spec.environment, spec.limits);
  } else {
    source = std::make_unique<PythonSource>(host_, spec.environment, spec.limits);
  }
  const PoolOptions& options = gated ? options_.gated_pool : python ? options_.python_pool : options_.node_pool;
  return std::make_shared<Pool>(host_.executor, std::move(source), options);
}

Task<Result<CallResult>> Engine::call(CallSpec spec) {
  BJ_CO_CHECK(check_arguments(spec));
#ifdef BELLJAR_TEST_SWITCHES
  spec.any_nonce = host_.without == "result";
#endif
  BJ_CO_TRY(CallResult result, co_await pool_for(spec)->call(spec));
  co_return result;
}

void Engine::use_pools(PoolOptions python, PoolOptions node) {
  options_.python_pool = python;
  options_.node_pool = node;
}

Task<void> Engine::settle(const CallSpec& like) { co_await pool_for(like)->settle(); }

Task<Result<std::shared_ptr<Sandbox>>> Engine::create_sandbox(SandboxSpec spec) {
  return sandboxes_->create(std::move(spec));
}

Task<void> Engine::stop() {
  if (environments_) co_await environments_->stop();
  // Copies: whoever still makes a call may add to them meanwhile.
  for (const auto& pool : std::vector(retired_)) co_await pool->stop();
  for (const auto& [key, pool] : std::map(pools_)) co_await pool->stop();
  pools_.clear();
  if (sandboxes_) co_await sandboxes_->stop();
  host_.cgroups.reset();
  take_leave();
}

}  // namespace bj
