#include "launcher/keeper.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>

#include "launcher/keeper_door.h"
#include "launcher/launcher.h"
#include "launcher/wait_for_next.h"
#include "launcher/wire.h"
#include "sys/pipe.h"
#include "sys/socket.h"

namespace bj {
namespace {

// A process that does nothing until it is killed.
struct Sleeper {
  Sleeper() : pid(::fork()) {
    if (pid == 0) {
      for (;;) ::pause();
    }
    pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  }
  ~Sleeper() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  Kept life(int64_t deadline_us) {
    Kept kept;
    kept.descriptors.push_back(std::move(pidfd));
    kept.deadline_us = deadline_us;
    kept.is_life = true;
    return kept;
  }
  pid_t pid;
  Fd pidfd;
};

struct Directory {
  Directory() {
    char path[] = "/tmp/belljar-door-XXXXXX";
    name = ::mkdtemp(path);
  }
  ~Directory() {
    for (const char* file : {"/keeper.sock", "/keeper.lock"}) ::unlink((name + file).c_str());
    ::rmdir(name.c_str());
  }
  std::string name;
};

BuildId build(uint8_t number) {
  BuildId id{};
  id[0] = number;
  return id;
}

TEST(KeeperTest, WhatIsForgottenIsClosedWithWhatBelongsToIt) {
  Keeper keeper;
  Pipe own = *make_pipe(), part = *make_pipe(), other = *make_pipe();
  const auto holding = [](Fd fd) {
    Kept kept;
    kept.descriptors.push_back(std::move(fd));
    return kept;
  };
  keeper.keep("a", holding(std::move(own.write)));
  keeper.keep("a/part", holding(std::move(part.write)));
  keeper.keep("ab", holding(std::move(other.write)));
  keeper.forget("a");
  char byte = 0;
  EXPECT_EQ(::read(own.read.get(), &byte, 1), 0);
  EXPECT_EQ(::read(part.read.get(), &byte, 1), 0);
  EXPECT_EQ(keeper.entries().size(), 1u);
  EXPECT_TRUE(keeper.entries().contains("ab"));
}

TEST(KeeperTest, APartIsOnlyKeptWhileTheWholeIs) {
  Keeper keeper;
  keeper.keep("a/part", {});
  EXPECT_TRUE(keeper.entries().empty());
  keeper.keep("a", {});
  keeper.keep("a/part", {});
  EXPECT_EQ(keeper.entries().size(), 2u);
}

TEST(KeeperTest, ALifeIsEndedWhenItsTimeHasComeAndNotBefore) {
  Keeper keeper;
  Sleeper sleeper, another;
  keeper.keep("early", sleeper.life(100));
  keeper.keep("late", another.life(0));
  keeper.move_deadline("late", 200);
  EXPECT_EQ(keeper.next_deadline(), 100);
  keeper.kill_due(99);
  EXPECT_EQ(keeper.lives().size(), 2u);
  keeper.kill_due(100);
  int status = 0;
  EXPECT_EQ(::waitpid(sleeper.pid, &status, 0), sleeper.pid);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(keeper.lives().size(), 1u);
  EXPECT_EQ(keeper.next_deadline(), 200);
}

TEST(KeeperDoorTest, WhereNobodyIsADoorIsOpened) {
  const Directory directory;
  const Result<Found> found = find_keeper(directory.name, build(1));
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_TRUE(found->door);
  EXPECT_FALSE(found->keeper.ok());
  EXPECT_EQ(found->ended, "");
}

TEST(KeeperDoorTest, TheNextServerOfTheSameBuildComesIn) {
  const Directory directory;
  Result<Found> first = find_keeper(directory.name, build(1));
  ASSERT_TRUE(first && first->door);
  Keeper keeper;
  Sleeper sleeper;
  keeper.keep("a", sleeper.life(0));
  Fd inside;
  std::thread waiting([&] { inside = wait_for_next(*first->door, keeper); });
  Result<Found> second = find_keeper(directory.name, build(1));
  waiting.join();
  ASSERT_TRUE(second);
  ASSERT_TRUE(second->keeper.ok());
  ASSERT_TRUE(inside.ok());
  ASSERT_TRUE(send_message(second->keeper.get(), "hello", {}));
  char buffer[16];
  EXPECT_EQ(receive_message(inside.get(), buffer, sizeof buffer)->size, 5u);
}

TEST(KeeperDoorTest, AnotherBuildEndsWhatIsKeptAndSaysWhy) {
  const Directory directory;
  Result<Found> first = find_keeper(directory.name, build(1));
  ASSERT_TRUE(first && first->door);
  Keeper keeper;
  Sleeper sleeper;
  keeper.keep("a", sleeper.life(0));
  Fd inside;
  std::thread waiting([&] { inside = wait_for_next(*first->door, keeper); });
  Result<Found> second = find_keeper(directory.name, build(2));
  waiting.join();
  ASSERT_TRUE(second);
  EXPECT_FALSE(inside.ok());
  EXPECT_FALSE(second->keeper.ok());
  EXPECT_TRUE(second->door);
  EXPECT_NE(second->ended.find("another build"), std::string::npos);
  EXPECT_TRUE(keeper.entries().empty());
  int status = 0;
  EXPECT_EQ(::waitpid(sleeper.pid, &status, 0), sleeper.pid);
}

TEST(KeeperDoorTest, WithoutALifeNobodyWaits) {
  const Directory directory;
  Result<Found> first = find_keeper(directory.name, build(1));
  ASSERT_TRUE(first && first->door);
  Keeper keeper;
  keeper.keep("engine", {});
  EXPECT_FALSE(wait_for_next(*first->door, keeper).ok());
}

TEST(KeeperDoorTest, ThisProgramHasABuildOfItsOwn) { EXPECT_NE(own_build(), BuildId{}); }

pid_t last_child() {
  std::ifstream children("/proc/thread-self/children");
  pid_t last = 0;
  while (children >> last) {
  }
  return last;
}

template <class T>
bool say(const Fd& socket, const T& request, const std::string& key, const std::vector<int>& descriptors) {
  const std::string bytes(reinterpret_cast<const char*>(&request), sizeof request);
  return send_message(socket.get(), bytes + key, descriptors).has_value();
}

// The kernel tells the reset of a socket before what was sent over it.
TEST(LauncherTest, WhatADyingServerSaidLastIsKeptThoughItLeftAnAnswerUnread) {
  const Directory directory;
  Result<Found> first = find_keeper(directory.name, build(1));
  ASSERT_TRUE(first && first->door);
  Sleeper sleeper;
  Result<Fd> server = start_launcher("", std::move(first->door));
  if (!server) GTEST_SKIP() << server.error().what;
  const pid_t launcher = last_child();
  ASSERT_TRUE(say(*server, launch::Header{1, launch::Kind::kList}, "", {}));
  pollfd answer{server->get(), POLLIN, 0};
  ASSERT_EQ(::poll(&answer, 1, -1), 1);
  ::kill(launcher, SIGSTOP);
  launch::Keep keep{};
  keep.header = {2, launch::Kind::kKeep};
  keep.is_life = 1;
  ASSERT_TRUE(say(*server, keep, "a", {sleeper.pidfd.get()}));
  server->reset();
  ::kill(launcher, SIGCONT);
  const Result<Found> next = find_keeper(directory.name, build(1));
  ASSERT_TRUE(next);
  ASSERT_TRUE(next->keeper.ok()) << "nothing was kept, so the launcher has gone";
  ASSERT_TRUE(say(next->keeper, launch::Header{3, launch::Kind::kList}, "", {}));
  char buffer[1024];
  const Result<Message> listed = receive_message(next->keeper.get(), buffer, sizeof buffer);
  ASSERT_TRUE(listed);
  EXPECT_EQ(std::string(buffer + sizeof(launch::Answer), listed->size - sizeof(launch::Answer)), "a");
}

launch::Answer answer_of(const Fd& socket) {
  char buffer[1024];
  launch::Answer answer{};
  const Result<Message> message = receive_message(socket.get(), buffer, sizeof buffer);
  if (message && message->size >= sizeof answer) std::memcpy(&answer, buffer, sizeof answer);
  return answer;
}

// It once inherited all of it, and could open nothing more once its own limit was below that.
TEST(LauncherTest, ASandboxStartsWithNothingOfWhatIsKept) {
  Sleeper sleeper;
  const Result<Fd> server = start_launcher("", std::nullopt);
  if (!server) GTEST_SKIP() << server.error().what;
  launch::Keep keep{};
  keep.header = {1, launch::Kind::kKeep};
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(say(*server, keep, std::to_string(i), std::vector<int>(launch::kMaxKept, sleeper.pidfd.get())));
  }
  ASSERT_TRUE(say(*server, launch::Header{2, launch::Kind::kAddLayer}, "/usr", {}));
  launch::Create create{};
  create.runtimes_layer = static_cast<uint16_t>(answer_of(*server).value);
  create.header = {3, launch::Kind::kCreate};
  create.clone_flags = CLONE_NEWNS;
  create.network = launch::NetworkOf::kSandbox;
  const std::string strings("\0/nowhere", 10);
  const Step steps[] = {{Op::kRlimit, Control::kNone, 0, 0, 0, 0, RLIMIT_NOFILE, 200},
                        {Op::kOpenNull, Control::kNone, 0, 0, 0, 0, 150, 0},
                        {Op::kChangeDirectory, Control::kNone, 0, 0, 1, 0, 0, 0}};
  create.step_count = 3;
  create.strings_size = static_cast<uint32_t>(strings.size());
  auto control = socket_pair(SOCK_SEQPACKET);
  ASSERT_TRUE(control);
  ASSERT_TRUE(say(*server, create, std::string(reinterpret_cast<const char*>(steps), sizeof steps) + strings,
                  {control->second.get()}));
  EXPECT_EQ(answer_of(*server).error, 0);
  control->second.reset();
  launch::PlanFailed failed{};
  ASSERT_EQ(::recv(control->first.get(), &failed, sizeof failed, 0), static_cast<ssize_t>(sizeof failed));
  EXPECT_EQ(failed.step, 2) << "not for the reason that this plan is to fail for";
  EXPECT_EQ(failed.error, ENOENT);
}

}  // namespace
}  // namespace bj
