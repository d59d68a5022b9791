// Stop with files, start, snapshot, fork, rollback.
#include "control/sandbox_manager_test_support.h"

namespace bj {
namespace {

using FileCommandsTest = SandboxManagerTest;

// Once, a refusal was taken for somebody else's doing, and it ran on.
TEST_F(FileCommandsTest, WhatCantBeKeptForWantOfRoomDoesNotRunOn) {
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

TEST_F(FileCommandsTest, OneThatIsStoppedWithItsFilesIsStartedWithThem) {
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

TEST_F(FileCommandsTest, LayersThatAreManyBecomeOne) {
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

TEST_F(FileCommandsTest, FilesThatCantBeKeptLeaveTheSandboxRunning) {
  const std::string id = create().id;
  fake(id).unsealable = true;
  EXPECT_FALSE(run(manager().stop_keeping_files(Actor(), id)));
  EXPECT_EQ(state(id), "running");
  EXPECT_FALSE(fake(id).destroyed);
  EXPECT_FALSE(fake(id).paused);
}

TEST_F(FileCommandsTest, WhatAnOrganizationStoresIsBoundedAndWhatIsRefusedLeavesNothing) {
  quota_.stored_bytes = 1 << 19;
  server_ = server("here/3");
  const std::string id = create().id;
  const Result<SandboxRow> refused = run(manager().stop_keeping_files(Actor(), id));
  EXPECT_FALSE(refused);
  EXPECT_EQ(state(id), "running");
  EXPECT_FALSE(fake(id).paused);
  EXPECT_EQ(server_->host.removed.size(), 1u);
}

TEST_F(FileCommandsTest, AtItsTimeoutOneCanBeStoppedWithItsFilesAndElseHasNone) {
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

// Its files were copied, and each of the new ones was told that its time was wrong.
TEST_F(FileCommandsTest, AForkThatIsAskedForWronglyCopiesNothing) {
  const std::string id = create().id;
  for (const int64_t seconds : {int64_t{0}, int64_t{1} << 40}) {
    const Result<std::vector<Forked>> forks = run(manager().fork(Actor(), id, {1, seconds, std::nullopt}));
    ASSERT_FALSE(forks);
    EXPECT_EQ(forks.error().code, Code::kUnprocessable);
  }
  EXPECT_EQ(fake(id).sealed, 0);
}

TEST_F(FileCommandsTest, AForkHasEverythingOfItsParentAndSharesItsLayers) {
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

TEST_F(FileCommandsTest, AForkOfAStoppedOneCopiesNothing) {
  const std::string parent = create().id;
  const Result<SandboxRow> stopped = run(manager().stop_keeping_files(Actor(), parent));
  ASSERT_TRUE(stopped);
  const Result<std::vector<Forked>> forks = run(manager().fork(Actor(), parent, {}));
  ASSERT_TRUE(forks) << forks.error().what;
  EXPECT_EQ(layers_of(*run(manager().get(kDefaultOrganization, (*forks)[0].id))), layers_of(*stopped));
  EXPECT_EQ(fake(parent).sealed, 1);
}

TEST_F(FileCommandsTest, ASnapshotIsATemplateAndTheWayBack) {
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

TEST_F(FileCommandsTest, AResumeMakesTheSpareFilesOfAPauseUseless) {
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

TEST_F(FileCommandsTest, AStartThatFailsLeavesTheFilesForAnother) {
  const std::string id = create().id;
  ASSERT_TRUE(run(manager().stop_keeping_files(Actor(), id)));
  server_->host.failures = {{Code::kInternal, "the launcher is gone", 0}};
  EXPECT_FALSE(run(manager().resume(Actor(), id)));
  EXPECT_EQ(state(id), "stopped");
  EXPECT_EQ(reason(id), "the launcher is gone");
  EXPECT_TRUE(run(manager().resume(Actor(), id)));
}

}  // namespace
}  // namespace bj
