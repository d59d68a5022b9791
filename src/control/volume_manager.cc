#include "control/volume_manager.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/compact_id.h"
#include "engine/volume_disk.h"
#include "store/sql.h"
#include "sys/files.h"
#include "sys/names.h"

namespace bj {
namespace {

constexpr int64_t kLeast = 16 << 20;  // smaller ones can't hold their own journal
constexpr int64_t kMost = int64_t{1} << 40;
constexpr size_t kLongestName = 128;
constexpr size_t kMostWindows = 32;
constexpr auto kIdle = std::chrono::seconds(30);

bool valid_name(const std::string& name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= kLongestName && name.find_first_not_of(kAllowed) == std::string::npos &&
         name.front() != '.';
}

}  // namespace

VolumeManager::VolumeManager(Engine& engine, Store& store, asio::thread_pool& threads, AuditLog& audit,
                             VolumeOptions options)
    : engine_(engine),
      threads_(threads),
      audit_(audit),
      options_(std::move(options)),
      volumes_(store.database()),
      idle_(engine.host().executor) {}

Task<Result<void>> VolumeManager::start() {
  const auto settle = [this]() -> Result<void> {
    BJ_TRY(const std::vector<VolumeRow> rows, volumes_.unfinished(options_.machine));
    for (const VolumeRow& row : rows) {
      (void)remove_tree(AT_FDCWD, disk_of(row.id) + ".new");
      (void)::unlink(disk_of(row.id).c_str());
      BJ_CHECK(volumes_.forget(row.id));
    }
    return {};
  };
  co_return co_await offload(threads_, settle);
}

Task<void> VolumeManager::stop() {
  while (!windows_.empty()) co_await close_window(windows_.begin()->first);
  idle_.cancel();  // now: who watches may have been closing one, and waits again while there are others
  while (watching_) co_await asio::post(engine_.host().executor, asio::use_awaitable);
}

Task<Result<void>> VolumeManager::make_disk(VolumeRow row) {
  const auto prepare = [&templates = engine_.templates(), directory = options_.directory]() -> Result<Template> {
    BJ_CHECK(make_directories(directory, 0700));
    return templates.find("base");
  };
  BJ_CO_TRY(Template base, co_await offload(*engine_.host().workers, prepare));
  BJ_CO_CHECK(co_await make_volume_disk(engine_.host(), std::move(base), disk_of(row.id),
                                        static_cast<uint64_t>(row.size_bytes)));
  const auto ready = [&] { return volumes_.set_ready(row.id); };
  co_return co_await offload(threads_, ready);
}

Task<Result<VolumeRow>> VolumeManager::create(Actor actor, std::string name, std::optional<int64_t> size_bytes) {
  BJ_CO_CHECK(co_await audit_.admit());
  if (!valid_name(name))
    co_return fail(Code::kUnprocessable, "a volume's name has letters, digits, \"_\", \"-\" and \".\", 128 at most");
  VolumeRow row;
  row.size_bytes = size_bytes.value_or(options_.usual_bytes);
  if (row.size_bytes < kLeast || row.size_bytes > kMost)
    co_return fail(Code::kUnprocessable, "a volume's size is from 16 MiB to 1 TiB");
  BJ_CO_CHECK(check_volumes(engine_.host()));
  row.id = new_compact_id("vol");
  row.organization = actor.organization;
  row.name = std::move(name);
  row.machine = options_.machine;
  if (!actor.user.empty()) row.created_by = actor.user;
  row.created_at = now_us();
  const auto insert = [&] { return volumes_.create(row, options_.quota); };
  BJ_CO_CHECK(co_await offload(threads_, insert));
  const Result<void> made = co_await make_disk(row);
  receipt(actor, "volume.create", row, made.has_value());
  if (!made) {
    const auto forget = [&] { return volumes_.forget(row.id); };
    (void)co_await offload(threads_, forget);
    co_return tl::unexpected(made.error());
  }
  row.state = "ready";
  co_return row;
}

Task<Result<VolumeRow>> VolumeManager::get(std::string organization, std::string id) {
  const auto read = [&] { return volumes_.get(organization, id); };
  co_return co_await offload(threads_, read);
}

Task<Result<std::vector<VolumeRow>>> VolumeManager::list(std::string organization, Page page) {
  const auto read = [&] { return volumes_.list(organization, page); };
  co_return co_await offload(threads_, read);
}

Task<Result<void>> VolumeManager::remove(Actor actor, std::string id) {
  BJ_CO_CHECK(co_await audit_.admit());
  const auto begin = [&] { return volumes_.begin_removal(actor.organization, id); };
  BJ_CO_TRY(const VolumeRow row, co_await offload(threads_, begin));
  co_await close_window(id);
  const auto finish = [&]() -> Result<void> {
    BJ_CHECK(remove_file(AT_FDCWD, disk_of(id)));
    return volumes_.forget(id);
  };
  Result<void> done = co_await offload(threads_, finish);
  receipt(actor, "volume.delete", row, done.has_value());
  co_return done;
}

// Its disk tells; names of machines change.
bool VolumeManager::is_here(const std::string& id) const { return ::access(disk_of(id).c_str(), F_OK) == 0; }

Task<Result<void>> VolumeManager::resolve(std::string organization, std::vector<VolumeWish>& wishes) {
  BJ_CO_CHECK(check_volume_wishes(wishes));
  for (VolumeWish& wish : wishes) {
    const auto find = [&] { return volumes_.find(organization, wish.name); };
    const Result<VolumeRow> row = co_await offload(threads_, find);
    if (!row && row.error().code == Code::kNotFound) co_return fail(Code::kUnprocessable, row.error().what);
    if (!row) co_return tl::unexpected(row.error());
    if (!is_here(row->id))
      co_return fail(Code::kUnavailable, "the volume \"" + wish.name + "\" lies on another server");
    wish.id = row->id;
  }
  co_return Result<void>();
}

Result<std::vector<MountSpec>> VolumeManager::mounts_of(const SandboxRow& row) const {
  std::vector<MountSpec> mounts;
  for (const VolumeWish& wish : wishes_of(row.options).volumes) {
    if (!is_compact_id("vol", wish.id)) return fail(Code::kInternal, "a volume's id is malformed");
    MountSpec mount;
    BJ_TRY(Fd tree, mount_volume_disk(disk_of(wish.id)));
    mount.tree = std::make_shared<Fd>(std::move(tree));
    mount.target = wish.path;
    mount.writable = !wish.read_only;
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

Task<Result<VolumeManager::Window>> VolumeManager::open_window(VolumeRow row) {
  Host& host = engine_.host();
  const auto prepare = [&templates = engine_.templates(), disk = disk_of(row.id)]() -> Result<SandboxSpec> {
    SandboxSpec spec;
    BJ_TRY(spec.image, templates.find("base"));
    BJ_TRY(Fd tree, mount_volume_disk(disk));
    MountSpec mount;
    mount.tree = std::make_shared<Fd>(std::move(tree));
    mount.target = kTop;
    mount.writable = true;
    spec.mounts.push_back(std::move(mount));
    return spec;
  };
  BJ_CO_TRY(SandboxSpec spec, co_await offload(*host.workers, prepare));
  Window window;
  BJ_CO_TRY(window.sandbox, co_await Sandbox::create(host, std::move(spec)));
  window.files = std::make_shared<SandboxFiles>(host, window.sandbox);
  co_return window;
}

Task<Result<std::shared_ptr<SandboxFiles>>> VolumeManager::files(std::string organization, std::string id) {
  BJ_CO_TRY(const VolumeRow row, co_await get(organization, id));
  if (!is_here(id)) co_return fail(Code::kUnavailable, "the volume lies on another server");
  auto found = windows_.find(id);
  if (found == windows_.end()) {
    if (windows_.size() >= kMostWindows) BJ_CO_CHECK(co_await close_oldest());
    BJ_CO_TRY(Window window, co_await open_window(row));
    // Who came second while this one was made ends his own.
    auto [at, placed] = windows_.emplace(id, window);
    if (!placed) co_await window.sandbox->destroy();
    found = windows_.find(id);
    if (found == windows_.end()) co_return fail(Code::kConflict, "the volume was removed meanwhile");
  }
  found->second.used = Clock::now();
  std::shared_ptr<SandboxFiles> files = found->second.files;
  if (!watching_) {
    watching_ = true;
    spawn(engine_.host().executor, [this] { return close_idle(); });
  }
  co_return files;
}

Task<void> VolumeManager::close_window(std::string id) {
  const auto found = windows_.find(id);
  if (found == windows_.end()) co_return;
  const std::shared_ptr<Sandbox> sandbox = found->second.sandbox;
  windows_.erase(found);
  co_await sandbox->destroy();
}

// One whose files somebody still holds is in use.
Task<Result<void>> VolumeManager::close_oldest() {
  auto oldest = windows_.end();
  for (auto window = windows_.begin(); window != windows_.end(); ++window) {
    const bool older = oldest == windows_.end() || window->second.used < oldest->second.used;
    if (window->second.files.use_count() == 1 && older) oldest = window;
  }
  if (oldest == windows_.end()) co_return fail(Code::kBusy, "too many volumes are looked into at a time");
  co_await close_window(oldest->first);
  co_return Result<void>();
}

Task<void> VolumeManager::close_idle() {
  while (!windows_.empty()) {
    idle_.expires_after(kIdle);
    if (!co_await expired(idle_)) break;
    std::vector<std::string> over;
    for (const auto& [id, window] : windows_) {
      if (window.files.use_count() == 1 && Clock::now() - window.used >= kIdle) over.push_back(id);
    }
    for (const std::string& id : over) co_await close_window(id);
  }
  watching_ = false;
}

void VolumeManager::receipt(const Actor& actor, const std::string& action, const VolumeRow& row, bool done) {
  Event event;
  event.kind = EventKind::kAdministration;
  event.action = action;
  event.actor = actor;
  event.subject = row.id;
  event.outcome = done ? "success" : "error";
  event.detail = {{"name", row.name}, {"size_bytes", row.size_bytes}};
  audit_.add(event);
}

}  // namespace bj
