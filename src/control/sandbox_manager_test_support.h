// A manager of sandboxes that do nothing but live, on a store that several servers may share. Time is moved by hand.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>

#include "base/compact_id.h"
#include "control/sandbox_manager.h"
#include "store/store_test_support.h"

namespace bj {

inline constexpr int64_t kSecondUs = 1'000'000;

// A sandbox that does nothing but live, until it is ended.
class FakeSandbox : public LiveSandbox {
 public:
  explicit FakeSandbox(const asio::any_io_executor& executor) : over_(executor, Clock::time_point::max()) {}

  Task<Result<PauseReport>> pause() override {
    if (while_pausing) co_await while_pausing();
    if (unpausable) co_return fail(Code::kInternal, "can't be frozen");
    paused = true;
    co_await asio::post(over_.get_executor(), asio::use_awaitable);  // it takes a while
    co_return PauseReport{100, 40};
  }
  Task<Result<void>> resume() override {
    paused = false;
    co_return Result<void>();
  }
  Task<Result<SealedFiles>> seal_files(AfterSeal then) override {
    if (unsealable) co_return fail(Code::kInternal, "can't be copied");
    if (being_copied) co_return fail(Code::kBusy, "is being copied already");
    ++sealed;
    if (then == AfterSeal::kStandStill) paused = true;
    co_return SealedFiles{new_compact_id("ly"), 1 << 20, nullptr};
  }
  void kill() override {
    alive = false;
    over_.cancel();
  }
  Task<void> ended() override {
    while (alive) (void)co_await expired(over_);
  }
  Task<void> destroy() override {
    if (while_ending) co_await while_ending();
    kill();
    destroyed = true;
    co_return;
  }
  ProcessTable& processes() override { throw std::logic_error("a fake has no processes"); }
  Interpreters& interpreters() override { throw std::logic_error("a fake has no interpreters"); }
  SandboxFiles& files() override { throw std::logic_error("a fake has no files"); }
  Task<Result<Fd>> connect(uint16_t) override { co_return fail(Code::kUnavailable, "a fake has no ports"); }
  Task<Result<SandboxMetrics>> metrics() override { co_return measured; }
  const Seal& seal() const override { return seal_; }
  void keep_until(int64_t end_at) override { kept_until = end_at; }

  std::function<Task<void>()> while_pausing, while_ending;
  SandboxMetrics measured;
  int64_t kept_until = -1;
  bool alive = true, paused = false, destroyed = false, unpausable = false, unsealable = false, being_copied = false;
  int sealed = 0;

 private:
  asio::steady_timer over_;
  Seal seal_;
};

class FakeHost : public SandboxHost {
 public:
  explicit FakeHost(const asio::any_io_executor& executor) : executor_(executor) {}

  Task<Result<void>> check(const SandboxRow& row) override {
    if (row.template_name == "unknown") co_return fail(Code::kNotFound, "there is no template \"unknown\"");
    co_return Result<void>();
  }
  Task<Result<std::shared_ptr<LiveSandbox>>> create(SandboxRow row, SandboxEnvironment environment) override {
    ++attempts;
    if (while_creating) co_await while_creating();
    last_environment = std::move(environment);
    last_row = row;
    if (!failures.empty()) {
      const Error failure = failures.front();
      failures.erase(failures.begin());
      co_return tl::unexpected(failure);
    }
    made[row.id] = std::make_shared<FakeSandbox>(executor_);
    co_return made[row.id];
  }

  Task<Result<SealedFiles>> join_layers(std::vector<std::string> layers) override {
    joined = std::move(layers);
    co_return SealedFiles{new_compact_id("ly"), 8 << 20, nullptr};
  }
  Task<Result<void>> make_durable(std::string layer) override {
    durable.insert(layer);
    if (while_reaching_disk) co_await while_reaching_disk();
    co_return Result<void>();
  }
  Task<void> remove_layers(std::vector<std::string> layers) override {
    for (const std::string& layer : layers) removed.insert(layer);
    co_return;
  }
  Task<void> remove_other_layers(std::vector<std::string> layers) override {
    known = std::move(layers);
    co_return;
  }

  std::vector<std::string> kept() override {
    std::vector<std::string> ids;
    for (const auto& [id, sandbox] : outlived) ids.push_back(id);
    return ids;
  }
  Task<Result<std::shared_ptr<LiveSandbox>>> take_up(SandboxRow row) override {
    const std::shared_ptr<FakeSandbox> found = std::exchange(outlived[row.id], nullptr);
    outlived.erase(row.id);
    if (!found->alive) co_return fail(Code::kNotFound, "it ended while no server was running");
    made[row.id] = found;
    co_return found;
  }
  void settle_kept() override {
    for (const auto& [id, sandbox] : outlived) sandbox->kill();
    outlived.clear();
  }

  Task<void> renew_network(const SandboxRow& row, LiveSandbox&) override {
    renewed.push_back(row.id);
    co_return;
  }

  std::function<Task<void>()> while_creating, while_reaching_disk;
  std::vector<std::string> renewed;                              // networks
  std::map<std::string, std::shared_ptr<FakeSandbox>> outlived;  // the server before
  std::map<std::string, std::shared_ptr<FakeSandbox>> made;
  std::set<std::string> durable, removed;
  std::vector<std::string> known;  // at the start
  std::vector<std::string> joined;
  std::vector<Error> failures;  // of the next creates
  SandboxEnvironment last_environment;
  SandboxRow last_row;
  int attempts = 0;

 private:
  asio::any_io_executor executor_;
};

// One server: its manager on a store that others may share.
struct Server {
  Server(asio::io_context& io, Store& store, asio::thread_pool& threads, AuditLog& audit, const std::string& directory,
         ManagerOptions options)
      : host(io.get_executor()),
        machine(directory + "/templates"),
        templates(store,
                  {machine, TemplateStore(directory + "/images"),
                   [](Template&, const std::vector<std::string>&) { return Result<TemplateHold>(TemplateHold()); }}),
        manager(io.get_executor(), store, threads, audit, host, templates, std::move(options)) {}
  FakeHost host;
  TemplateStore machine;  // with nothing but base
  TemplateCatalog templates;
  SandboxManager manager;
};

class SandboxManagerTest : public testing::Test {
 protected:
  void SetUp() override {
    StoreOptions options;
    options.data_directory = directory_.path();
    auto opened = Store::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().what;
    store_ = std::move(*opened);
    auto notary = Notary::open(directory_.path());
    ASSERT_TRUE(notary) << notary.error().what;
    audit_ = std::make_unique<AuditLog>(io_.get_executor(), *store_, threads_, std::move(*notary));
    server_ = server("here/1");
    other_ = new_actor(*store_);
  }
  void TearDown() override {
    if (server_) run(server_->manager.stop());
    threads_.join();
  }

  std::unique_ptr<Server> server(const std::string& node) {
    ManagerOptions options;
    options.node = node;
    options.quota = quota_;
    options.now = [this] { return now_.load(); };
    options.node_is_dead = [](const std::string&) { return true; };
    return std::make_unique<Server>(io_, *store_, threads_, *audit_, directory_.path(), std::move(options));
  }

  // Runs until the task is done; the rest of what runs goes on as long.
  template <class T>
  T run(Task<T> task) {
    std::optional<std::conditional_t<std::is_void_v<T>, bool, T>> result;
    const auto keep = [&]() -> Task<void> {
      if constexpr (std::is_void_v<T>) {
        co_await std::move(task);
        result = true;
      } else {
        result.emplace(co_await std::move(task));
      }
    };
    asio::co_spawn(io_, keep(), asio::detached);
    io_.restart();
    while (!result && io_.run_one() > 0) {
    }
    if constexpr (!std::is_void_v<T>) return std::move(*result);
  }
  // What the clock asks for, done to its end.
  void tick() {
    run(server_->manager.tick());
    run(server_->manager.settle());
  }

  SandboxManager& manager() { return server_->manager; }
  SandboxRow create(NewSandbox wanted = {}) {
    const Result<SandboxRow> made = run(manager().create(Actor(), std::move(wanted)));
    EXPECT_TRUE(made) << made.error().what;
    return made.value_or(SandboxRow());
  }
  std::string state(const std::string& id) {
    const Result<SandboxRow> row = run(manager().get(kDefaultOrganization, id));
    return row ? row->state : row.error().what;
  }
  std::string reason(const std::string& id) { return run(manager().get(kDefaultOrganization, id))->reason; }
  FakeSandbox& fake(const std::string& id) { return *server_->host.made.at(id); }

  ScratchDirectory directory_;
  asio::io_context io_;
  asio::thread_pool threads_{2};
  std::unique_ptr<Store> store_;
  std::unique_ptr<AuditLog> audit_;
  std::unique_ptr<Server> server_;
  Actor other_;
  std::atomic<int64_t> now_ = 1'000 * kSecondUs;  // asked for on workers, too
  SandboxShare quota_{2, 0, 0, 0, 0};
};

}  // namespace bj
