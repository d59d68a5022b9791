// What is true after a restart.
#include "control/sandbox_manager_test_support.h"

namespace bj {
namespace {

using AdoptionTest = SandboxManagerTest;

TEST_F(AdoptionTest, AfterACrashWhatLivedThereHasEndedAndIsTold) {
  const std::string id = create().id;
  const std::unique_ptr<Server> dead = std::move(server_);  // never stopped: its rows are as a kill leaves them
  server_ = server("here/2");
  ASSERT_TRUE(run(manager().start()));
  EXPECT_EQ(state(id), "stopped");
  EXPECT_EQ(reason(id), "the server ended, and the sandbox with it");
  for (const auto& [name, sandbox] : dead->host.made) sandbox->kill();
  run(dead->manager.stop());
}

TEST_F(AdoptionTest, WhatOutlivedTheServerIsAdoptedAndTheRestIsLost) {
  const std::string kept = create().id, lost = create().id;
  const std::unique_ptr<Server> dead = std::move(server_);
  server_ = server("here/1");  // the same one, started again
  // Not the one that the dead one made: that one's manager would see it end, and write that down as well.
  server_->host.outlived[kept] = std::make_shared<FakeSandbox>(io_.get_executor());
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

TEST_F(AdoptionTest, WhatTheKeeperEndedInTimeIsSaidToHaveEndedForThat) {
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

TEST_F(AdoptionTest, APausedOneHasNoEndAndACommandThatWasCutShortIsDoneAgainOnce) {
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

TEST_F(AdoptionTest, ACreateThatACrashCutShortIsFinishedByTheNextServer) {
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

// It would have been what the next server dies of, and the one after that.
TEST_F(AdoptionTest, WhatEveryServerDiesOfIsNotBegunForEver) {
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
  command.attempts = 10;
  SandboxTable table(store_->database(), store_->vault());
  ASSERT_TRUE(table.create(Actor(), row, {}, {}, {}, {}, command));
  ASSERT_TRUE(run(manager().start()));
  tick();
  EXPECT_EQ(state(row.id), "error");
  EXPECT_EQ(reason(row.id), "it was begun ten times, and never came to its end");
  EXPECT_EQ(server_->host.attempts, 0);
}

TEST_F(AdoptionTest, APausedOneWhoseServerDiedIsStoppedAndHasItsFiles) {
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

}  // namespace
}  // namespace bj
