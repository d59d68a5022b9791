#include "sys/cgroup.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

#include "sys/clone.h"
#include "sys/files.h"
#include "sys/pipe.h"

namespace bj {
namespace {

namespace fs = std::filesystem;

// Each test has a root group of its own, so that several suites can run on one machine; it is gone afterwards.
class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    static int count = 0;
    name_ = "belljar-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
    if (::geteuid() != 0) GTEST_SKIP() << "not root: control groups need root or a delegated subtree";
    root_ = CgroupRoot::open(name_, "");
    if (root_->hierarchies().empty()) {
      GTEST_SKIP() << "no control group can be made here: memory: " << root_->why_not(Controller::kMemory);
    }
  }
  void TearDown() override {
    if (!root_) return;
    std::vector<std::string> paths;
    for (const auto& hierarchy : root_->hierarchies()) paths.push_back(hierarchy.path);
    if (root_->freezer() != nullptr) paths.push_back(root_->freezer()->path);
    for (const std::string& path : paths) EXPECT_EQ(::rmdir(path.c_str()), 0) << path << ": " << std::strerror(errno);
  }

  Cgroup make(const std::string& name) { return Cgroup::create(root_, name).value(); }
  std::string file_of(Controller controller, const std::string& group, const std::string& file) const {
    return read_file(root_->find(controller)->path + "/" + group + "/" + file).value_or("");
  }

  std::string name_;
  std::shared_ptr<const CgroupRoot> root_;
};

// A child in a group; it ends when told to, or when this object does.
class Member {
 public:
  enum class Work { kWait, kFork };

  Member(const Cgroup& group, Work work) {
    const std::vector<Fd> joins = group.join_files().value();
    Pipe ready = make_pipe().value();
    pid_ = ::fork();
    if (pid_ == 0) {
      for (const Fd& file : joins) {
        if (::write(file.get(), "0", 1) != 1) ::_exit(1);
      }
      if (work == Work::kFork) ::_exit(::fork() < 0 && errno == EAGAIN ? 0 : 2);
      if (::write(ready.write.get(), "r", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    ready.write.reset();
    char byte = 0;
    joined_ = ::read(ready.read.get(), &byte, 1) == 1;
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member() { end(); }

  bool joined() const { return joined_; }
  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    wait();
  }
  // The exit status, -1: killed.
  int wait() {
    int status = -1;
    if (pid_ > 0) ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  bool joined_ = false;
};

TEST_F(CgroupTest, AGroupIsADirectoryInEveryHierarchyAndGoesWithItsOwner) {
  {
    const Cgroup group = make("one");
    for (const auto& hierarchy : root_->hierarchies()) EXPECT_TRUE(fs::exists(hierarchy.path + "/one"));
    EXPECT_TRUE(group.empty());
  }
  for (const auto& hierarchy : root_->hierarchies()) EXPECT_FALSE(fs::exists(hierarchy.path + "/one"));
}

TEST_F(CgroupTest, AllGroupsTogetherWeighOneThreadOnEachProcessor) {
  if (!root_->has(Controller::kCpu)) GTEST_SKIP() << root_->why_not(Controller::kCpu);
  const unsigned processors = std::thread::hardware_concurrency();
  const std::string weight =
      root_->version2() ? file_of(Controller::kCpu, "", "cpu.weight") : file_of(Controller::kCpu, "", "cpu.shares");
  EXPECT_EQ(weight, std::to_string(processors * (root_->version2() ? 100 : 1024)) + "\n");
}

TEST_F(CgroupTest, MovingAGroupKeepsItOnce) {
  Cgroup group = make("one");
  {
    const Cgroup moved = std::move(group);
    EXPECT_TRUE(moved.empty());
  }
  EXPECT_FALSE(fs::exists(root_->hierarchies().front().path + "/one"));
}

TEST_F(CgroupTest, AJoinedChildIsInTheGroupUntilItEnds) {
  const Cgroup group = make("joined");
  Member member(group, Member::Work::kWait);
  ASSERT_TRUE(member.joined());
  EXPECT_FALSE(group.empty());
  member.end();
  EXPECT_TRUE(group.empty());
}

TEST_F(CgroupTest, AChildCanBeBornInAGroupOfVersion2) {
  if (!root_->version2()) GTEST_SKIP() << "version 1: a process joins by writing";
  const Cgroup group = make("born");
  const Fd directory = group.directory().value();
  const Cloned child = clone_process(0, directory.get());
  if (child.pid == 0) {
    for (;;) ::pause();
  }
  ASSERT_GT(child.pid, 0) << std::strerror(-child.pid);
  const Fd pidfd(child.pidfd);
  EXPECT_EQ(file_of(Controller::kMemory, "born", "cgroup.procs"), std::to_string(child.pid) + "\n");
  ::kill(child.pid, SIGKILL);
  ::waitpid(child.pid, nullptr, 0);
}

TEST_F(CgroupTest, LimitsAreWrittenToTheControllersThatAreThere) {
  Cgroup group = make("limited");
  CgroupLimits limits;
  if (root_->has(Controller::kMemory)) limits.memory_bytes = 64 << 20;
  if (root_->has(Controller::kPids)) limits.processes = 7;
  if (root_->has(Controller::kCpu)) limits.cpus = 0.5;
  const auto done = group.limit(limits);
  ASSERT_TRUE(done) << done.error().what;
  if (limits.memory_bytes != 0) {
    const char* file = root_->version2() ? "memory.max" : "memory.limit_in_bytes";
    EXPECT_EQ(file_of(Controller::kMemory, "limited", file), "67108864\n");
  }
  if (limits.processes != 0) EXPECT_EQ(file_of(Controller::kPids, "limited", "pids.max"), "7\n");
  if (limits.cpus > 0) {
    const std::string wanted = root_->version2() ? "50000 100000\n" : "50000\n";
    const char* file = root_->version2() ? "cpu.max" : "cpu.cfs_quota_us";
    EXPECT_EQ(file_of(Controller::kCpu, "limited", file), wanted);
  }
}

TEST_F(CgroupTest, AGroupCanBeLimitedAgainToLess) {
  if (!root_->has(Controller::kMemory)) GTEST_SKIP() << root_->why_not(Controller::kMemory);
  Cgroup group = make("again");
  for (const uint64_t bytes : {uint64_t{64} << 20, uint64_t{32} << 20}) {
    const auto done = group.limit({.memory_bytes = bytes});
    ASSERT_TRUE(done) << bytes << ": " << done.error().what;
  }
}

TEST_F(CgroupTest, AForkOverTheLimitIsRefusedAndCounted) {
  if (!root_->has(Controller::kPids)) GTEST_SKIP() << root_->why_not(Controller::kPids);
  Cgroup group = make("pids");
  ASSERT_TRUE(group.limit({.processes = 1}));
  Member member(group, Member::Work::kFork);
  EXPECT_EQ(member.wait(), 0);
  EXPECT_GE(group.usage().forks_refused, 1u);
}

TEST_F(CgroupTest, CpuTimeOfItsProcessesIsCounted) {
  if (!root_->has(Controller::kCpuAccounting)) GTEST_SKIP() << root_->why_not(Controller::kCpuAccounting);
  const Cgroup group = make("cpu");
  const uint64_t before = group.usage().cpu_ns;
  Member member(group, Member::Work::kWait);
  ASSERT_TRUE(member.joined());
  member.end();
  EXPECT_GT(group.usage().cpu_ns, before);
}

TEST_F(CgroupTest, LeftoversWithThePrefixAreRemovedOthersStay) {
  for (const auto& hierarchy : root_->hierarchies()) {
    for (const char* name : {"/dead-1", "/dead-2", "/alive"}) {
      ASSERT_EQ(::mkdir((hierarchy.path + name).c_str(), 0755), 0);
    }
  }
  root_->remove_leftovers("dead-");
  for (const auto& hierarchy : root_->hierarchies()) {
    EXPECT_FALSE(fs::exists(hierarchy.path + "/dead-1"));
    EXPECT_FALSE(fs::exists(hierarchy.path + "/dead-2"));
    EXPECT_EQ(::rmdir((hierarchy.path + "/alive").c_str()), 0);
  }
}

bool can_freeze(const CgroupRoot& root) { return root.version2() || root.freezer() != nullptr; }

std::string frozen_state(const CgroupRoot& root, const std::string& name) {
  if (!root.version2()) return read_file(root.freezer()->path + "/" + name + "/freezer.state").value_or("");
  const std::string events = read_file(root.hierarchies().front().path + "/" + name + "/cgroup.events").value_or("");
  return events.find("frozen 1") != std::string::npos ? "FROZEN\n" : "THAWED\n";
}

TEST_F(CgroupTest, AFrozenGroupStandsStillAndGoesOn) {
  if (!can_freeze(*root_)) GTEST_SKIP() << "nothing can be frozen here";
  Cgroup group = make("ice");
  Member member(group, Member::Work::kWait);
  ASSERT_TRUE(member.joined());
  for (int round = 0; round < 2; ++round) {
    const auto done = group.freeze();
    ASSERT_TRUE(done) << done.error().what;
    for (int look = 0; look < 1'000'000 && frozen_state(*root_, "ice") != "FROZEN\n"; ++look) {
    }
    EXPECT_EQ(frozen_state(*root_, "ice"), "FROZEN\n");
    ASSERT_TRUE(group.reclaim());
    ASSERT_TRUE(group.thaw());
    EXPECT_EQ(frozen_state(*root_, "ice"), "THAWED\n");
  }
  if (root_->has(Controller::kPids)) EXPECT_EQ(group.load().processes, 1u);
}

TEST_F(CgroupTest, AFrozenProcessThatWasKilledDiesWhenItIsThawed) {
  if (!can_freeze(*root_)) GTEST_SKIP() << "nothing can be frozen here";
  Cgroup group = make("ice");
  Member member(group, Member::Work::kWait);
  ASSERT_TRUE(group.freeze());
  ::kill(member.pid(), SIGKILL);
  ASSERT_TRUE(group.thaw());
  EXPECT_EQ(member.wait(), -1);
  EXPECT_TRUE(group.empty());
}

TEST_F(CgroupTest, LeftoversOfADeadInstanceAreEndedFrozenOrNot) {
  if (!can_freeze(*root_)) GTEST_SKIP() << "nothing can be frozen here";
  Cgroup group = make("dead-1");
  Member member(group, Member::Work::kWait);
  ASSERT_TRUE(group.freeze());
  EXPECT_TRUE(root_->remove_leftovers("dead-"));
  EXPECT_EQ(member.wait(), -1);
}

TEST_F(CgroupTest, AControllerThatIsMissingSaysWhy) {
  for (size_t i = 0; i < static_cast<size_t>(Controller::kCount); ++i) {
    const auto controller = static_cast<Controller>(i);
    if (!root_->has(controller)) EXPECT_FALSE(root_->why_not(controller).empty()) << kControllerNames[i];
  }
}

}  // namespace
}  // namespace bj
