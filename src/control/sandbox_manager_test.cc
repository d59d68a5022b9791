#include "control/sandbox_manager.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "base/compact_id.h"
#include "control/backoff.h"
#include "store/store_test_support.h"

namespace bj {
namespace {

constexpr int64_t kSecondUs = 1'000'000;

// A sandbox that does nothing but live, until it is ended.
class FakeSandbox : public LiveSandbox {
 public:
  explicit FakeSandbox(const asio::any_io_executor& executor) : over_(executor, Clock::time_point::max()) {}

  Task<Result<PauseReport>> pause() override {
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
    kill();
    destroyed = true;
    co_return;
  }
  ProcessTable& processes() override { throw std::logic_error("a fake has no processes"); }
  Interpreters& interpreters() override { throw std::logic_error("a fake has no interpreters"); }
  SandboxFiles& files() override { throw std::logic_error("a fake has no files"); }
  Task<Result<Fd>> connect(uint16_t) override { co_return fail(Code::kUnavailable, "a fake has no ports"); }
  Task<Result<SandboxMetrics>> metrics() override { co_return SandboxMetrics(); }
  const Seal& seal() const override { return seal_; }
  void keep_until(int64_t end_at) override { kept_until = end_at; }

  int64_t kept_until = -1;
  bool alive = true, paused = false, destroyed = false, unpausable = false, unsealable = false;
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
    options.now = [this] { return now_; };
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
  int64_t now_ = 1'000 * kSecondUs;
  SandboxShare quota_{2, 0, 0, 0, 0};
};

TEST_F(SandboxManagerTest, ASandboxRunsWithWhatItWasGiven) {
  NewSandbox wanted;
  wanted.environment = {{"TOKEN", "x"}};
  wanted.metadata = {{"team", "red"}};
  wanted.timeout_s = 60;
  const SandboxRow row = create(std::move(wanted));
  EXPECT_EQ(row.state, "running");
  EXPECT_EQ(row.end_at, now_ + 60 * kSecondUs);
  EXPECT_EQ(server_->host.last_environment, (SandboxEnvironment{{"TOKEN", "x"}}));
  EXPECT_TRUE(run(manager().running(kDefaultOrganization, row.id)));
}

// Whoever writes them: an API, a command, another server.
TEST_F(SandboxManagerTest, ANetworkPolicyOfItsOrganizationReachesASandboxThatLives) {
  tick();
  const std::string id = create().id;
  tick();
  EXPECT_EQ(server_->host.renewed, std::vector<std::string>());
  ASSERT_TRUE(store_->network_policies().put(other_, "\"open\""));  // somebody else's
  tick();
  EXPECT_EQ(server_->host.renewed, std::vector<std::string>());
  ASSERT_TRUE(store_->network_policies().put(Actor(), "\"open\""));
  tick();
  tick();
  EXPECT_EQ(server_->host.renewed, std::vector<std::string>{id});
  ASSERT_TRUE(store_->network_policies().remove(Actor().organization));
  tick();
  EXPECT_EQ(server_->host.renewed, (std::vector<std::string>{id, id}));
}

TEST_F(SandboxManagerTest, AnotherOrganizationFindsNothing) {
  const std::string id = create().id;
  const std::string& theirs = other_.organization;
  EXPECT_EQ(run(manager().get(theirs, id)).error().code, Code::kNotFound);
  EXPECT_EQ(run(manager().running(theirs, id)).error().code, Code::kNotFound);
  EXPECT_EQ(run(manager().held(theirs, id)).error().code, Code::kNotFound);
  EXPECT_EQ(run(manager().pause(other_, id)).error().code, Code::kNotFound);
  EXPECT_EQ(run(manager().set_timeout(other_, id, 1, TimeoutRule::kSet)).error().code, Code::kNotFound);
  EXPECT_EQ(run(manager().remove(other_, id)).error().code, Code::kNotFound);
  EXPECT_EQ(state(id), "running");
}

TEST_F(SandboxManagerTest, ItEndsToTheSecondWhenItsTimeIsOver) {
  NewSandbox wanted;
  wanted.timeout_s = 10;
  const std::string id = create(std::move(wanted)).id;
  now_ += 10 * kSecondUs - 1;
  tick();
  EXPECT_EQ(state(id), "running");
  now_ += 1;
  tick();
  EXPECT_EQ(state(id), "stopped");
  EXPECT_EQ(reason(id), "its time was over");
  EXPECT_TRUE(fake(id).destroyed);
  EXPECT_EQ(run(manager().running(kDefaultOrganization, id)).error().code, Code::kConflict);
}

TEST_F(SandboxManagerTest, ATimeoutCanBeMovedEitherWayOrOnlyFurther) {
  const std::string id = create().id;
  const Actor actor;
  EXPECT_EQ(run(manager().set_timeout(actor, id, 5, TimeoutRule::kOnlyLonger))->end_at, now_ + 300 * kSecondUs);
  EXPECT_EQ(run(manager().set_timeout(actor, id, 5, TimeoutRule::kSet))->end_at, now_ + 5 * kSecondUs);
  now_ += 5 * kSecondUs;
  tick();
  EXPECT_EQ(state(id), "stopped");
}

TEST_F(SandboxManagerTest, WhatIsToPauseIsPausedAndKeptUntilItIsResumed) {
  NewSandbox wanted;
  wanted.timeout_s = 10;
  wanted.on_timeout = "pause";
  const std::string id = create(std::move(wanted)).id;
  now_ += 10 * kSecondUs;
  tick();
  EXPECT_EQ(state(id), "paused");
  EXPECT_TRUE(fake(id).paused);
  now_ += 1000 * kSecondUs;
  tick();
  EXPECT_EQ(state(id), "paused");
  EXPECT_EQ(run(manager().running(kDefaultOrganization, id)).error().code, Code::kConflict);
  const Result<Resumed> resumed = run(manager().resume(Actor(), id));
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->row.end_at, now_ + 10 * kSecondUs);
  EXPECT_FALSE(resumed->cold);
  EXPECT_FALSE(fake(id).paused);
  EXPECT_EQ(run(manager().pause(Actor(), id))->memory_after, 40u);
  EXPECT_EQ(run(manager().pause(Actor(), id)).error().code, Code::kConflict);
}

TEST_F(SandboxManagerTest, WhatCantBePausedDoesNotRunOn) {
  NewSandbox wanted;
  wanted.timeout_s = 10;
  wanted.on_timeout = "pause";
  const std::string id = create(std::move(wanted)).id;
  fake(id).unpausable = true;
  now_ += 10 * kSecondUs;
  tick();
  EXPECT_EQ(state(id), "stopped");
}

// Once, the second one woke what the first had stopped: it ran on, paused by its row, without an end.
TEST_F(SandboxManagerTest, TwoWhoPauseAtOnceLeaveItPaused) {
  const std::string id = create().id;
  const auto both = [&]() -> Task<std::vector<Result<PauseReport>>> {
    const auto other = std::make_shared<OneShot<Result<PauseReport>>>(io_.get_executor());
    asio::co_spawn(
        io_, [&, other]() -> Task<void> { other->set(co_await manager().pause(Actor(), id)); }, asio::detached);
    std::vector<Result<PauseReport>> outcomes;
    outcomes.push_back(co_await manager().pause(Actor(), id));
    outcomes.push_back(*co_await other->get());
    co_return outcomes;
  };
  const std::vector<Result<PauseReport>> outcomes = run(both());
  EXPECT_EQ(outcomes[0].has_value() + outcomes[1].has_value(), 1);
  EXPECT_EQ(state(id), "paused");
  EXPECT_TRUE(fake(id).paused);
}

// Once, a refusal was taken for somebody else's doing, and it ran on.
TEST_F(SandboxManagerTest, WhatCantBeKeptForWantOfRoomDoesNotRunOn) {
  run(server_->manager.stop());
  quota_.stored_bytes = 1;
  server_ = server("here/2");
  NewSandbox wanted;
  wanted.timeout_s = 10;
  wanted.on_timeout = "stop";
  const std::string id = create(std::move(wanted)).id;
  now_ += 10 * kSecondUs;
  tick();
  EXPECT_EQ(state(id), "stopped");
  EXPECT_EQ(reason(id), "its time was over");
  EXPECT_TRUE(fake(id).destroyed);
}

TEST_F(SandboxManagerTest, AnOrganizationHasItsShareAndEndedOnesGiveTheirsBack) {
  const std::string first = create().id;
  create();
  EXPECT_TRUE(is_over_quota(run(manager().create(Actor(), {})).error()));
  EXPECT_TRUE(run(manager().create(other_, {})));
  EXPECT_TRUE(run(manager().remove(Actor(), first)));
  EXPECT_NE(state(first), "stopped");  // it is forgotten
  create();
}

TEST_F(SandboxManagerTest, ACreateIsRepeatedSafely) {
  NewSandbox wanted;
  wanted.idempotency_key = "again";
  const std::string first = create(wanted).id;
  EXPECT_EQ(create(wanted).id, first);
  EXPECT_EQ(server_->host.attempts, 1);
}

TEST_F(SandboxManagerTest, AKeyThatComesWithAnotherRequestIsRefused) {
  NewSandbox wanted;
  wanted.idempotency_key = "again";
  wanted.timeout_s = 30;
  wanted.environment = {{"TOKEN", "x"}};
  const std::string id = create(wanted).id;
  const auto code_of = [&](const std::function<void(NewSandbox&)>& change) {
    NewSandbox other = wanted;
    change(other);
    const Result<SandboxRow> made = run(manager().create(Actor(), std::move(other)));
    return made ? std::optional<Code>() : made.error().code;
  };
  EXPECT_EQ(code_of([](NewSandbox&) {}), std::nullopt);
  EXPECT_EQ(code_of([](NewSandbox& other) { other.timeout_s = 31; }), Code::kConflict);
  EXPECT_EQ(code_of([](NewSandbox& other) { other.metadata = {{"team", "red"}}; }), Code::kConflict);
  EXPECT_EQ(code_of([](NewSandbox& other) { other.environment = {{"TOKEN", "y"}}; }), Code::kConflict);
  EXPECT_EQ(code_of([](NewSandbox& other) { other.environment.clear(); }), Code::kConflict);
  EXPECT_TRUE(run(manager().set_timeout(Actor(), id, 60, TimeoutRule::kSet, "t")));
  EXPECT_EQ(run(manager().set_timeout(Actor(), id, 61, TimeoutRule::kSet, "t")).error().code, Code::kConflict);
  EXPECT_EQ(code_of([](NewSandbox&) {}), std::nullopt);  // what became of it since does not matter
  EXPECT_EQ(server_->host.attempts, 1);
}

TEST_F(SandboxManagerTest, EveryCommandIsRepeatedSafely) {
  const std::string id = create().id;
  const uint64_t before = run(manager().pause(Actor(), id, PauseKeeps::kMemory, "p"))->memory_before;
  EXPECT_EQ(run(manager().pause(Actor(), id, PauseKeeps::kMemory, "p"))->memory_before, before);
  EXPECT_TRUE(run(manager().resume(Actor(), id, {}, "r")));
  const Result<Resumed> again = run(manager().resume(Actor(), id, {}, "r"));
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_FALSE(again->cold);
  EXPECT_TRUE(run(manager().pause(Actor(), id, PauseKeeps::kMemory, "p")));
  EXPECT_EQ(state(id), "running");  // the pause was before
  EXPECT_EQ(run(manager().resume(Actor(), id, {}, "p")).error().code, Code::kConflict);
  EXPECT_TRUE(run(manager().set_timeout(Actor(), id, 60, TimeoutRule::kSet, "t")));
  now_ += 5 * kSecondUs;
  EXPECT_EQ(run(manager().set_timeout(Actor(), id, 60, TimeoutRule::kSet, "t"))->end_at, now_ + 55 * kSecondUs);
  EXPECT_TRUE(run(manager().remove(Actor(), id, "d")));
  EXPECT_TRUE(run(manager().remove(Actor(), id, "d")));
  EXPECT_EQ(run(manager().remove(Actor(), id)).error().code, Code::kNotFound);
}

TEST_F(SandboxManagerTest, WhatMayPassIsTriedAgainLater) {
  server_->host.failures = {{Code::kBusy, "no room", 0}, {Code::kBusy, "no room", 0}};
  std::optional<Result<SandboxRow>> made;
  asio::co_spawn(io_, [&]() -> Task<void> { made.emplace(co_await manager().create(Actor(), {})); }, asio::detached);
  for (int i = 0; i < 1000 && !made; ++i) {
    tick();
    now_ += 60 * kSecondUs;
  }
  ASSERT_TRUE(made);
  ASSERT_TRUE(*made) << made->error().what;
  EXPECT_EQ((*made)->state, "running");
  EXPECT_EQ(server_->host.attempts, 3);
}

TEST_F(SandboxManagerTest, WhatCantBeMadeIsAnErrorThatSaysWhy) {
  server_->host.failures = {{Code::kInternal, "the launcher is gone", 0}};
  const auto failed = run(manager().create(Actor(), {}));
  ASSERT_FALSE(failed);
  const auto all = run(manager().list(kDefaultOrganization, {}, {}));
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ((*all)[0].state, "error");
  EXPECT_EQ((*all)[0].reason, "the launcher is gone");
  EXPECT_TRUE(run(manager().remove(Actor(), (*all)[0].id)));
  NewSandbox unknown;
  unknown.template_name = "unknown";
  EXPECT_EQ(run(manager().create(Actor(), unknown)).error().code, Code::kUnprocessable);
}

TEST_F(SandboxManagerTest, OneThatEndsByItselfIsReportedSo) {
  const std::string id = create().id;
  fake(id).kill();
  tick();
  EXPECT_EQ(state(id), "stopped");
  EXPECT_EQ(reason(id), "it ended by itself");
}

TEST_F(SandboxManagerTest, AfterACrashWhatLivedThereHasEndedAndIsTold) {
  const std::string id = create().id;
  const std::unique_ptr<Server> dead = std::move(server_);  // never stopped: its rows are as a kill leaves them
  server_ = server("here/2");
  ASSERT_TRUE(run(manager().start()));
  EXPECT_EQ(state(id), "stopped");
  EXPECT_EQ(reason(id), "the server ended, and the sandbox with it");
  for (const auto& [name, sandbox] : dead->host.made) sandbox->kill();
  run(dead->manager.stop());
}

TEST_F(SandboxManagerTest, WhatOutlivedTheServerIsAdoptedAndTheRestIsLost) {
  const std::string kept = create().id, lost = create().id;
  const std::unique_ptr<Server> dead = std::move(server_);
  server_ = server("here/1");  // the same one, started again
  server_->host.outlived[kept] = dead->host.made[kept];
  server_->host.outlived["nobody's"] = std::make_shared<FakeSandbox>(io_.get_executor());
  const auto nobodys = server_->host.outlived["nobody's"];
  ASSERT_TRUE(run(manager().start()));
  EXPECT_EQ(state(kept), "running");
  EXPECT_TRUE(run(manager().running(kDefaultOrganization, kept)));
  EXPECT_EQ(state(lost), "stopped");
  EXPECT_EQ(reason(lost), "the server ended, and the sandbox with it");
  EXPECT_FALSE(nobodys->alive);
  now_ += 300 * kSecondUs;  // its time goes on
  tick();
  EXPECT_EQ(state(kept), "stopped");
  EXPECT_EQ(reason(kept), "its time was over");
  for (const auto& [name, sandbox] : dead->host.made) sandbox->kill();
  run(dead->manager.stop());
}

TEST_F(SandboxManagerTest, WhatTheKeeperEndedInTimeIsSaidToHaveEndedForThat) {
  const std::string id = create().id;
  EXPECT_EQ(fake(id).kept_until, now_ + 300 * kSecondUs);
  const std::unique_ptr<Server> dead = std::move(server_);
  server_ = server("here/1");
  server_->host.outlived[id] = dead->host.made[id];
  now_ += 301 * kSecondUs;
  dead->host.made[id]->alive = false;
  ASSERT_TRUE(run(manager().start()));
  EXPECT_EQ(state(id), "stopped");
  EXPECT_EQ(reason(id), "its time was over");
  for (const auto& [name, sandbox] : dead->host.made) sandbox->kill();
  run(dead->manager.stop());
}

TEST_F(SandboxManagerTest, APausedOneHasNoEndAndACommandThatWasCutShortIsDoneAgainOnce) {
  const std::string id = create().id;
  CommandRow command;
  command.id = "cmd-of-the-dead-server";
  command.organization = kDefaultOrganization;
  command.kind = "pause";
  command.subject = id;
  command.node = command.claimed_by = "here/1";
  command.state = "claimed";
  command.lease_until = now_ + 1000 * kSecondUs;
  command.attempts = 1;
  ASSERT_TRUE(store_->database().transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(CommandTable::insert(transaction, command));
    return {};
  }));
  const std::unique_ptr<Server> dead = std::move(server_);
  server_ = server("here/1");
  server_->host.outlived[id] = dead->host.made[id];
  ASSERT_TRUE(run(manager().start()));
  tick();
  EXPECT_EQ(state(id), "paused");
  EXPECT_EQ(fake(id).kept_until, 0);
  EXPECT_EQ(CommandTable(store_->database()).get(command.id)->state, "done");
  ASSERT_TRUE(run(manager().resume(Actor(), id)));
  EXPECT_EQ(fake(id).kept_until, now_ + 300 * kSecondUs);
  for (const auto& [name, sandbox] : dead->host.made) sandbox->kill();
  run(dead->manager.stop());
}

TEST_F(SandboxManagerTest, ACreateThatACrashCutShortIsFinishedByTheNextServer) {
  // As the dead server left it: the row and the claimed command, and nothing made.
  SandboxRow row;
  row.id = "sbabcdefghijklmnopqrstuvwxyz";
  row.organization = kDefaultOrganization;
  row.template_name = "base";
  row.state = "creating";
  row.node = "here/0";
  row.timeout_s = 60;
  row.created_at = now_;
  CommandRow command;
  command.organization = kDefaultOrganization;
  command.kind = "create";
  command.subject = row.id;
  command.state = "claimed";
  command.claimed_by = "here/0";
  command.lease_until = now_ + 1000 * kSecondUs;
  command.attempts = 1;
  SandboxTable table(store_->database(), store_->vault());
  ASSERT_TRUE(table.create(Actor(), row, {}, {}, {}, {}, command));
  ASSERT_TRUE(run(manager().start()));
  tick();
  EXPECT_EQ(state(row.id), "running");
  EXPECT_TRUE(server_->host.made.contains(row.id));
}

TEST_F(SandboxManagerTest, OneThatIsStoppedWithItsFilesIsStartedWithThem) {
  const std::string id = create().id;
  const Result<SandboxRow> stopped = run(manager().stop_keeping_files(Actor(), id));
  ASSERT_TRUE(stopped) << stopped.error().what;
  EXPECT_EQ(stopped->state, "stopped");
  EXPECT_TRUE(stopped->kept);
  EXPECT_TRUE(fake(id).destroyed);
  const std::vector<std::string> layers = layers_of(*stopped);
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_TRUE(server_->host.durable.contains(layers[0]));
  EXPECT_EQ(run(manager().used(kDefaultOrganization))->stored_bytes, 1 << 20);
  const Result<Resumed> started = run(manager().resume(Actor(), id));
  ASSERT_TRUE(started) << started.error().what;
  EXPECT_TRUE(started->cold);
  EXPECT_EQ(started->row.state, "running");
  EXPECT_FALSE(started->row.ended_at);
  EXPECT_EQ(layers_of(server_->host.last_row), layers);
}

TEST_F(SandboxManagerTest, LayersThatAreManyBecomeOne) {
  const std::string id = create().id;
  std::vector<std::string> layers;
  for (int i = 0; i < 8; ++i) {
    const Result<SandboxRow> stopped = run(manager().stop_keeping_files(Actor(), id));
    ASSERT_TRUE(stopped) << stopped.error().what;
    layers = layers_of(*stopped);
    EXPECT_EQ(layers.size(), static_cast<size_t>(i) + 1);
    ASSERT_TRUE(run(manager().resume(Actor(), id)));
  }
  const Result<SandboxRow> stopped = run(manager().stop_keeping_files(Actor(), id));
  ASSERT_TRUE(stopped) << stopped.error().what;
  EXPECT_EQ(layers_of(*stopped).size(), 1u);
  EXPECT_EQ(server_->host.joined.size(), 9u);
  run(manager().settle());
  EXPECT_EQ(server_->host.removed.size(), 9u) << "nobody uses the many";
}

TEST_F(SandboxManagerTest, FilesThatCantBeKeptLeaveTheSandboxRunning) {
  const std::string id = create().id;
  fake(id).unsealable = true;
  EXPECT_FALSE(run(manager().stop_keeping_files(Actor(), id)));
  EXPECT_EQ(state(id), "running");
  EXPECT_FALSE(fake(id).destroyed);
  EXPECT_FALSE(fake(id).paused);
}

TEST_F(SandboxManagerTest, WhatAnOrganizationStoresIsBoundedAndWhatIsRefusedLeavesNothing) {
  quota_.stored_bytes = 1 << 19;
  server_ = server("here/3");
  const std::string id = create().id;
  const Result<SandboxRow> refused = run(manager().stop_keeping_files(Actor(), id));
  EXPECT_FALSE(refused);
  EXPECT_EQ(state(id), "running");
  EXPECT_FALSE(fake(id).paused);
  EXPECT_EQ(server_->host.removed.size(), 1u);
}

TEST_F(SandboxManagerTest, AtItsTimeoutOneCanBeStoppedWithItsFilesAndElseHasNone) {
  NewSandbox wanted;
  wanted.timeout_s = 10;
  const std::string killed = create(wanted).id;
  wanted.on_timeout = "stop";
  const std::string kept = create(wanted).id;
  now_ += 10 * kSecondUs;
  tick();
  EXPECT_EQ(state(kept), "stopped");
  EXPECT_EQ(state(killed), "stopped");
  EXPECT_TRUE(run(manager().resume(Actor(), kept)));
  const Result<Resumed> gone = run(manager().resume(Actor(), killed));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Code::kConflict);
}

TEST_F(SandboxManagerTest, AForkHasEverythingOfItsParentAndSharesItsLayers) {
  quota_.live = 3;
  server_ = server("here/3");
  NewSandbox wanted;
  wanted.environment = {{"TOKEN", "x"}};
  wanted.metadata = {{"team", "red"}};
  wanted.processes = 33;
  const std::string parent = create(std::move(wanted)).id;
  const Result<std::vector<Forked>> forks = run(manager().fork(Actor(), parent, {3, 77, std::nullopt}));
  ASSERT_TRUE(forks) << forks.error().what;
  ASSERT_EQ(forks->size(), 3u);
  EXPECT_NE((*forks)[2].error, "") << "beyond the share";
  EXPECT_EQ(fake(parent).sealed, 1);
  EXPECT_FALSE(fake(parent).paused);
  const Result<SandboxRow> one = run(manager().get(kDefaultOrganization, (*forks)[0].id));
  const Result<SandboxRow> two = run(manager().get(kDefaultOrganization, (*forks)[1].id));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->processes, 33);
  EXPECT_EQ(one->timeout_s, 77);
  EXPECT_EQ(one->metadata, R"({"team":"red"})");
  EXPECT_EQ(server_->host.last_environment, (SandboxEnvironment{{"TOKEN", "x"}}));
  EXPECT_EQ(layers_of(*one), layers_of(*two));
  run(manager().settle());
  const std::string layer = layers_of(*one).at(0);
  EXPECT_TRUE(run(manager().remove(Actor(), one->id)));
  run(manager().settle());
  EXPECT_FALSE(server_->host.removed.contains(layer));
  EXPECT_TRUE(run(manager().remove(Actor(), two->id)));
  run(manager().settle());
  EXPECT_TRUE(server_->host.removed.contains(layer)) << "nobody uses it any more";
}

TEST_F(SandboxManagerTest, AForkOfAStoppedOneCopiesNothing) {
  const std::string parent = create().id;
  const Result<SandboxRow> stopped = run(manager().stop_keeping_files(Actor(), parent));
  ASSERT_TRUE(stopped);
  const Result<std::vector<Forked>> forks = run(manager().fork(Actor(), parent, {}));
  ASSERT_TRUE(forks) << forks.error().what;
  EXPECT_EQ(layers_of(*run(manager().get(kDefaultOrganization, (*forks)[0].id))), layers_of(*stopped));
  EXPECT_EQ(fake(parent).sealed, 1);
}

TEST_F(SandboxManagerTest, ASnapshotIsATemplateAndTheWayBack) {
  const std::string id = create().id;
  const Result<SnapshotView> taken = run(manager().snapshot(Actor(), id, {"ready", std::nullopt}));
  ASSERT_TRUE(taken) << taken.error().what;
  EXPECT_EQ(taken->size_bytes, 1 << 20);
  EXPECT_EQ(run(manager().list_snapshots(kDefaultOrganization, id, {}))->size(), 1u);
  NewSandbox wanted;
  wanted.template_name = "ready";
  const SandboxRow made = create(wanted);
  const std::vector<std::string> layers = layers_of(made);
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(run(manager().create(other_, wanted)).error().code, Code::kUnprocessable);
  EXPECT_EQ(run(manager().rollback(other_, id, "ready")).error().code, Code::kNotFound);

  const std::shared_ptr<FakeSandbox> before = server_->host.made.at(id);
  const Result<SandboxRow> back = run(manager().rollback(Actor(), id, taken->view.row.id));
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_TRUE(before->destroyed);
  EXPECT_TRUE(fake(id).alive);
  EXPECT_EQ(back->state, "running");
  EXPECT_EQ(layers_of(*back), layers);

  EXPECT_TRUE(run(manager().remove_snapshot(Actor(), "ready")));
  EXPECT_FALSE(server_->host.removed.contains(layers[0])) << "two sandboxes use it";
  EXPECT_TRUE(run(manager().remove(Actor(), made.id)));
  EXPECT_TRUE(run(manager().remove(Actor(), id)));
  run(manager().settle());
  EXPECT_TRUE(server_->host.removed.contains(layers[0]));
}

TEST_F(SandboxManagerTest, ASecondRequestWithTheSameKeyIsTheFirst) {
  const std::string id = create().id;
  const Result<SnapshotView> first = run(manager().snapshot(Actor(), id, {"", "key"}));
  const Result<SnapshotView> again = run(manager().snapshot(Actor(), id, {"", "key"}));
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->view.row.id, again->view.row.id);
  EXPECT_EQ(fake(id).sealed, 1);
  EXPECT_EQ(run(manager().fork(Actor(), id, {1, std::nullopt, "key"})).error().code, Code::kConflict);
}

TEST_F(SandboxManagerTest, APausedOneWhoseServerDiedIsStoppedAndHasItsFiles) {
  const std::string id = create().id;
  ASSERT_TRUE(run(manager().pause(Actor(), id)));
  run(manager().settle());
  const Result<SandboxRow> paused = run(manager().get(kDefaultOrganization, id));
  ASSERT_TRUE(paused);
  EXPECT_FALSE(paused->spare_image.empty());
  const std::unique_ptr<Server> dead = std::move(server_);
  server_ = server("here/2");
  ASSERT_TRUE(run(manager().start()));
  EXPECT_EQ(state(id), "stopped");
  EXPECT_EQ(server_->host.known, layers_of(*paused));
  const Result<Resumed> started = run(manager().resume(Actor(), id));
  ASSERT_TRUE(started) << started.error().what;
  EXPECT_TRUE(started->cold);
  EXPECT_EQ(layers_of(server_->host.last_row), layers_of(*paused));
  for (const auto& [name, sandbox] : dead->host.made) sandbox->kill();
  run(dead->manager.stop());
}

TEST_F(SandboxManagerTest, AResumeMakesTheSpareFilesOfAPauseUseless) {
  const std::string id = create().id;
  ASSERT_TRUE(run(manager().pause(Actor(), id)));
  run(manager().settle());
  const std::vector<std::string> spare = layers_of(*run(manager().get(kDefaultOrganization, id)));
  ASSERT_EQ(spare.size(), 1u);
  ASSERT_TRUE(run(manager().resume(Actor(), id)));
  run(manager().settle());
  EXPECT_TRUE(server_->host.removed.contains(spare[0]));
  EXPECT_TRUE(layers_of(*run(manager().get(kDefaultOrganization, id))).empty());
}

TEST_F(SandboxManagerTest, AStartThatFailsLeavesTheFilesForAnother) {
  const std::string id = create().id;
  ASSERT_TRUE(run(manager().stop_keeping_files(Actor(), id)));
  server_->host.failures = {{Code::kInternal, "the launcher is gone", 0}};
  EXPECT_FALSE(run(manager().resume(Actor(), id)));
  EXPECT_EQ(state(id), "stopped");
  EXPECT_EQ(reason(id), "the launcher is gone");
  EXPECT_TRUE(run(manager().resume(Actor(), id)));
}

TEST_F(SandboxManagerTest, AServerThatStopsEndsItsSandboxes) {
  const std::string id = create().id;
  ASSERT_TRUE(run(manager().start()));
  run(manager().stop());
  EXPECT_TRUE(fake(id).destroyed);
  EXPECT_EQ(state(id), "stopped");
  EXPECT_EQ(reason(id), "the server stopped");
  server_.reset();
}

}  // namespace
}  // namespace bj
