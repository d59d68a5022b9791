#include "control/backoff.h"
#include "control/sandbox_manager_test_support.h"

namespace bj {
namespace {

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

// It was made, and nothing could be started in it.
TEST_F(SandboxManagerTest, VariablesThatNoProcessCanHaveAreRefused) {
  const std::map<std::string, std::string> wrong[] = {{{"A=B", "x"}}, {{"", "x"}}, {{"A", std::string(200'000, 'x')}}};
  for (const auto& variables : wrong) {
    NewSandbox wanted;
    wanted.environment = variables;
    const Result<SandboxRow> made = run(manager().create(Actor(), std::move(wanted)));
    ASSERT_FALSE(made) << variables.begin()->first;
    EXPECT_EQ(made.error().code, Code::kUnprocessable);
  }
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

TEST_F(SandboxManagerTest, ASecondRequestWithTheSameKeyIsTheFirst) {
  const std::string id = create().id;
  const Result<SnapshotView> first = run(manager().snapshot(Actor(), id, {"", "key"}));
  const Result<SnapshotView> again = run(manager().snapshot(Actor(), id, {"", "key"}));
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->view.row.id, again->view.row.id);
  EXPECT_EQ(fake(id).sealed, 1);
  EXPECT_EQ(run(manager().fork(Actor(), id, {1, std::nullopt, "key"})).error().code, Code::kConflict);
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

// They went only when a server was started.
TEST_F(SandboxManagerTest, WhatEndedLongAgoIsForgotten) {
  const std::string gone = create().id, stays = create().id;
  ASSERT_TRUE(run(manager().remove(Actor(), gone)));
  ASSERT_TRUE(run(manager().pause(Actor(), stays)));
  const auto count = [this](const std::string& what) {
    return store_->database().read("SELECT COUNT(*) FROM " + what)->rows[0].integer(0);
  };
  tick();
  EXPECT_EQ(count("sandboxes"), 2);
  now_ += int64_t{31} * 24 * 3600 * kSecondUs;
  tick();
  EXPECT_EQ(count("sandboxes"), 1);
  EXPECT_EQ(count("sandbox_commands"), 0);
  EXPECT_EQ(state(stays), "paused");
}

}  // namespace
}  // namespace bj
