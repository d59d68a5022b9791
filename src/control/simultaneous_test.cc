// Requests for one sandbox that come at the same time, and commands whose end the database would not take.
#include <gtest/gtest.h>

#include "control/sandbox_manager_test_support.h"

namespace bj {
namespace {

class SimultaneousTest : public SandboxManagerTest {
 protected:
  // A request beside the one that is awaited.
  template <class T>
  std::shared_ptr<std::optional<T>> begin(Task<T> request) {
    auto outcome = std::make_shared<std::optional<T>>();
    asio::co_spawn(
        io_,
        [outcome, request = std::move(request)]() mutable -> Task<void> {
          outcome->emplace(co_await std::move(request));
        },
        asio::detached);
    return outcome;
  }
  template <class T>
  T end(const std::shared_ptr<std::optional<T>>& outcome) {
    io_.restart();
    while (!*outcome && io_.run_one() > 0) {
    }
    return *outcome ? **outcome : T(fail(Code::kInternal, "nobody answers"));
  }
  int64_t count(const std::string& sql) {
    const Result<Rows> rows = store_->database().read("SELECT COUNT(*) FROM " + sql);
    return rows ? rows->rows[0].integer(0) : -1;
  }
  Task<void> until(std::function<bool()> so) {
    while (!so()) co_await asio::post(io_, asio::use_awaitable);
  }
  // As a full disk would, from here on.
  void refuse_ends_of_commands() {
    ASSERT_TRUE(
        store_->database().write("CREATE TRIGGER full BEFORE UPDATE ON sandbox_commands BEGIN SELECT "
                                 "RAISE(ABORT, 'the disk is full'); END"));
  }
  void take_ends_of_commands() { ASSERT_TRUE(store_->database().write("DROP TRIGGER full")); }
  // The ends of sandboxes only, as whatever else may be wrong with them would.
  void refuse_ends_of_sandboxes() {
    ASSERT_TRUE(
        store_->database().write("CREATE TRIGGER full BEFORE UPDATE ON sandboxes WHEN NEW.state IN ('stopped', "
                                 "'deleted') BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"));
  }
};

// It went on although it was called paused: the second, refused, undid what the first had done.
TEST_F(SimultaneousTest, OfTwoPausesTheSecondLeavesItPaused) {
  const std::string id = create().id;
  fake(id).while_pausing = [this] {
    return until([this] { return count("sandbox_commands WHERE kind = 'pause'") == 2; });
  };
  const auto first = begin(manager().pause(Actor(), id));
  const auto second = begin(manager().pause(Actor(), id));
  const Result<PauseReport> one = end(first), other = end(second);
  EXPECT_NE(one.has_value(), other.has_value());
  EXPECT_EQ((one ? other : one).error().code, Code::kConflict);
  EXPECT_EQ(state(id), "paused");
  EXPECT_TRUE(fake(id).paused);
}

// What a pause leaves in the background was told after the deletion that came next: it passed for one that ended by
// itself.
TEST_F(SimultaneousTest, ARowThatIsToldLateIsNotTakenForTheLatest) {
  HeldSandbox held(io_.get_executor());
  SandboxRow paused, stopping;
  paused.state = "paused";
  stopping.state = "stopping";
  held.learn(stopping, 2);
  held.learn(paused, 1);
  EXPECT_EQ(held.row.state, "stopping");
  held.learn(paused, 3);
  EXPECT_EQ(held.row.state, "paused");
}

// Its files were kept, its end refused with a sentence about commands.
TEST_F(SimultaneousTest, ADeletionWhileItIsStoppedDeletes) {
  const std::string id = create().id;
  std::shared_ptr<std::optional<Result<void>>> deletion;
  std::shared_ptr<std::optional<Result<SandboxRow>>> stop;
  fake(id).while_ending = [&] {
    return until([&] { return stop->has_value() || count("sandboxes WHERE state = 'stopped'") == 1; });
  };
  server_->host.while_reaching_disk = [&]() -> Task<void> {
    deletion = begin(manager().remove(Actor(), id));
    co_await until([this] { return count("sandboxes WHERE state = 'running'") == 0; });
  };
  stop = begin(manager().stop_keeping_files(Actor(), id));
  const Result<SandboxRow> stopped = end(stop);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::kConflict);
  EXPECT_TRUE(end(deletion));
  EXPECT_EQ(run(manager().get(kDefaultOrganization, id)).error().code, Code::kNotFound);
}

TEST_F(SimultaneousTest, ARollbackWhileItIsStoppedRollsBack) {
  const std::string id = create().id;
  const Result<SnapshotView> taken = run(manager().snapshot(Actor(), id, {"ready", {}}));
  ASSERT_TRUE(taken) << taken.error().what;
  const std::shared_ptr<FakeSandbox> before = server_->host.made.at(id);
  std::shared_ptr<std::optional<Result<SandboxRow>>> rollback, stop;
  server_->host.while_creating = [&] {
    return until([&] { return stop->has_value() || count("sandboxes WHERE state = 'stopped'") == 1; });
  };
  server_->host.while_reaching_disk = [&]() -> Task<void> {
    rollback = begin(manager().rollback(Actor(), id, "ready"));
    co_await until([this] { return count("sandboxes WHERE state = 'creating'") == 1; });
  };
  stop = begin(manager().stop_keeping_files(Actor(), id));
  const Result<SandboxRow> stopped = end(stop);
  const Result<SandboxRow> back = end(rollback);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::kConflict);
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(back->state, "running");
  EXPECT_TRUE(before->destroyed);
  EXPECT_EQ(run(manager().running(kDefaultOrganization, id)).value()->live, server_->host.made.at(id));
}

// The request was never answered: its command was buried with the sandbox, and nobody tried it again.
TEST_F(SimultaneousTest, WhoeverWaitsForAnotherTryHearsOfTheSandboxesEnd) {
  const std::string id = create().id;
  fake(id).being_copied = true;
  const auto forks = begin(manager().fork(Actor(), id, {}));
  run(until([this] { return count("sandbox_commands WHERE kind = 'fork' AND state = 'waiting'") == 1; }));
  EXPECT_FALSE(*forks);
  EXPECT_TRUE(run(manager().remove(Actor(), id)));
  const Result<std::vector<Forked>> told = end(forks);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Code::kConflict) << told.error().what;
}

// It did stop at the second try, and was told that it could not: the sandbox was stopped.
TEST_F(SimultaneousTest, AStopThatIsTriedAgainHasItsOwnOutcome) {
  const std::string id = create().id;
  fake(id).being_copied = true;
  const auto stop = begin(manager().stop_keeping_files(Actor(), id));
  run(until([this] { return count("sandbox_commands WHERE kind = 'stop' AND state = 'waiting'") == 1; }));
  fake(id).being_copied = false;
  now_ += 60 * kSecondUs;
  tick();
  const Result<SandboxRow> stopped = end(stop);
  ASSERT_TRUE(stopped) << stopped.error().what;
  EXPECT_EQ(stopped->state, "stopped");
}

// Whoever repeats a request because its answer is late has that answer, not half of it.
TEST_F(SimultaneousTest, ARepeatedCreateIsToldOfTheSandboxWhenItRuns) {
  NewSandbox wanted;
  wanted.idempotency_key = "again";
  std::shared_ptr<std::optional<Result<SandboxRow>>> second;
  server_->host.while_creating = [&]() -> Task<void> {
    second = begin(manager().create(Actor(), wanted));
    asio::steady_timer timer(io_, std::chrono::milliseconds(60));
    while (!*second && co_await expired(timer)) break;
  };
  const SandboxRow first = create(wanted);
  const Result<SandboxRow> again = end(second);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->id, first.id);
  EXPECT_EQ(again->state, "running");
}

TEST_F(SimultaneousTest, ARepeatedCreateThatFailedIsToldWhy) {
  NewSandbox wanted;
  wanted.idempotency_key = "again";
  server_->host.failures = {{Code::kInternal, "the launcher is gone", 0}};
  EXPECT_FALSE(run(manager().create(Actor(), wanted)));
  const Result<SandboxRow> again = run(manager().create(Actor(), wanted));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().what, "it was tried before, and failed: the launcher is gone");
}

// It was "stopping" until the next start of the server, counted, and could not be deleted.
TEST_F(SimultaneousTest, AnEndThatCouldNotBeWrittenIsWrittenLater) {
  const std::string id = create().id;
  refuse_ends_of_commands();
  EXPECT_FALSE(run(manager().remove(Actor(), id)));
  EXPECT_EQ(state(id), "stopping");
  tick();
  EXPECT_EQ(state(id), "stopping");
  take_ends_of_commands();
  tick();
  tick();
  EXPECT_EQ(run(manager().get(kDefaultOrganization, id)).error().code, Code::kNotFound);
}

TEST_F(SimultaneousTest, APauseThatCouldNotBeWrittenIsNotDoneLater) {
  const std::string id = create().id;
  refuse_ends_of_commands();
  EXPECT_FALSE(run(manager().pause(Actor(), id)));
  take_ends_of_commands();
  tick();
  tick();
  EXPECT_EQ(state(id), "running");
  EXPECT_FALSE(fake(id).paused);
  EXPECT_EQ(count("sandbox_commands WHERE state IN ('waiting', 'claimed')"), 0);
}

// It ran on while it was called paused: without an end, and not counted as running.
TEST_F(SimultaneousTest, AResumeThatCouldNotBeWrittenLeavesItPaused) {
  const std::string id = create().id;
  ASSERT_TRUE(run(manager().pause(Actor(), id)));
  run(manager().settle());
  refuse_ends_of_commands();
  EXPECT_FALSE(run(manager().resume(Actor(), id)));
  EXPECT_TRUE(fake(id).paused);
  take_ends_of_commands();
  tick();
  tick();
  EXPECT_EQ(state(id), "paused");
  EXPECT_TRUE(fake(id).paused);
  ASSERT_TRUE(run(manager().resume(Actor(), id)));
  EXPECT_EQ(state(id), "running");
  EXPECT_FALSE(fake(id).paused);
}

// It was "stopping" for ever: its command was dead, and no other one could be given.
TEST_F(SimultaneousTest, AnEndThatWasRefusedOnceIsWrittenLater) {
  const std::string id = create().id;
  refuse_ends_of_sandboxes();
  EXPECT_FALSE(run(manager().remove(Actor(), id)));
  EXPECT_EQ(state(id), "stopping");
  take_ends_of_commands();
  tick();
  tick();
  EXPECT_EQ(run(manager().get(kDefaultOrganization, id)).error().code, Code::kNotFound);
}

// It was "running" until the next start of the server, and counted.
TEST_F(SimultaneousTest, AnEndOfItsOwnThatCouldNotBeWrittenIsWrittenLater) {
  const std::string id = create().id;
  refuse_ends_of_sandboxes();
  fake(id).kill();
  run(manager().settle());
  run(until([&] { return fake(id).destroyed; }));
  tick();
  EXPECT_EQ(state(id), "running");
  take_ends_of_commands();
  tick();
  EXPECT_EQ(state(id), "stopped");
  EXPECT_EQ(reason(id), "it ended by itself");
}

// It was refused, and the sandbox stayed there, stopped.
TEST_F(SimultaneousTest, ADeletionOfOneThatEndsAlreadyDeletes) {
  const std::string id = create().id;
  std::shared_ptr<std::optional<Result<void>>> deletion;
  fake(id).while_ending = [&]() -> Task<void> {
    if (deletion) co_return;
    deletion = begin(manager().remove(Actor(), id));
    co_await until([&] { return deletion->has_value() || count("sandbox_commands WHERE kind = 'delete'") == 1; });
  };
  now_ += 301 * kSecondUs;
  tick();
  ASSERT_TRUE(deletion);
  EXPECT_TRUE(end(deletion));
  EXPECT_EQ(run(manager().get(kDefaultOrganization, id)).error().code, Code::kNotFound);
}

// Whoever gave it more time in its last moment was told that it had that, and it ended.
TEST_F(SimultaneousTest, ATimeThatIsMovedInTheLastMomentHoldsOrIsRefused) {
  const std::string id = create().id;
  ASSERT_TRUE(store_->database().write("UPDATE sandboxes SET end_at = end_at + 600000000"));  // just now
  now_ += 301 * kSecondUs;
  tick();
  EXPECT_EQ(state(id), "running");
  std::shared_ptr<std::optional<Result<SandboxRow>>> late;
  fake(id).while_ending = [&]() -> Task<void> {
    if (late) co_return;
    late = begin(manager().set_timeout(Actor(), id, 600, TimeoutRule::kSet));
    co_await until([&] { return late->has_value(); });
  };
  EXPECT_TRUE(run(manager().remove(Actor(), id)));
  ASSERT_TRUE(late);
  const Result<SandboxRow> refused = end(late);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
}

// The request was never answered.
TEST_F(SimultaneousTest, WhoeverWaitsForAnotherTryHearsOfTheServerThatDidIt) {
  const std::unique_ptr<Server> other = server("there/2");
  server_->host.failures = {{Code::kUnavailable, "no room", 0}};
  const auto made = begin(manager().create(Actor(), {}));
  run(until([this] { return count("sandbox_commands WHERE state = 'waiting'") == 1; }));
  now_ += 60 * kSecondUs;
  run(other->manager.tick());
  run(other->manager.settle());
  tick();
  const Result<SandboxRow> row = end(made);
  ASSERT_TRUE(row) << row.error().what;
  EXPECT_EQ(row->state, "running");
  EXPECT_EQ(*row->node, "there/2");
  // What that one lets in is that one's to change.
  const Result<SandboxRow> opened = run(manager().set_access(Actor(), row->id, "public"));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::kUnavailable);
  run(other->manager.stop());
}

}  // namespace
}  // namespace bj
