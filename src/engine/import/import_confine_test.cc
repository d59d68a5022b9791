#include "engine/import/import_confine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/import/import_test_support.h"

namespace bj {
namespace {

// Programs that misbehave in the cell; each runs in a child of its own and is judged by its exit status.
class ImportConfineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::mkdir((temporary_.path() + "/rootfs").c_str(), 0755), 0);
    ASSERT_EQ(::mkdir((temporary_.path() + "/scratch").c_str(), 0755), 0);
    directory_ = Fd(::open(temporary_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    rootfs_ = Fd(::openat(directory_.get(), "rootfs", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    scratch_ = Fd(::openat(directory_.get(), "scratch", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    source_ = Fd(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));  // a way out past chroot, for Landlock to close
    messages_ = Fd(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  }

  // True if `attempt` returned true inside.
  template <class Attempt>
  bool succeeds(Attempt attempt) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const ImportCell cell{directory_.get(), rootfs_.get(), scratch_.get(), source_.get(), false,
                            messages_.get(),  ImportLimits{}};
      const Result<int> abi = confine(cell);
      if (!abi) ::_exit(99);
      ::_exit(attempt(*abi) ? 1 : 0);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_NE(WEXITSTATUS(status), 99) << "the cell could not be made";
    return WEXITSTATUS(status) == 1;
  }

  ScratchDirectory temporary_;
  Fd directory_, rootfs_, scratch_, source_, messages_;
};

TEST_F(ImportConfineTest, WhatUnpackingNeedsWorks) {
  EXPECT_TRUE(succeeds([&](int) {
    return ::mkdirat(rootfs_.get(), "a", 0700) == 0 && ::symlinkat("x", rootfs_.get(), "link") == 0 &&
           Fd(::openat(rootfs_.get(), "a/file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)).ok() &&
           ::linkat(rootfs_.get(), "a/file", rootfs_.get(), "other", 0) == 0 &&
           ::unlinkat(rootfs_.get(), "other", 0) == 0;
  }));
  if (::geteuid() != 0) return;
  EXPECT_TRUE(succeeds([&](int) { return ::fchownat(rootfs_.get(), "a/file", 33, 33, 0) == 0; }));
}

TEST_F(ImportConfineTest, NothingOutsideCanBeReadOrWritten) {
  EXPECT_FALSE(succeeds([&](int) { return Fd(::open("/etc/passwd", O_RDONLY | O_CLOEXEC)).ok(); }));
  EXPECT_FALSE(succeeds(
      [&](int abi) { return abi > 0 && Fd(::openat(source_.get(), "etc/passwd", O_RDONLY | O_CLOEXEC)).ok(); }));
  EXPECT_FALSE(
      succeeds([&](int abi) { return abi > 0 && ::mkdirat(source_.get(), "var/tmp/belljar-import-evil", 0700) == 0; }));
  EXPECT_FALSE(succeeds([&](int abi) { return abi > 0 && ::mkdirat(directory_.get(), "beside", 0700) == 0; }));
  EXPECT_FALSE(
      succeeds([&](int abi) { return abi > 0 && ::renameat(directory_.get(), "rootfs", directory_.get(), "x") == 0; }));
}

TEST_F(ImportConfineTest, NoOtherDescriptorIsLeft) {
  const Fd secret(::open("/etc/passwd", O_RDONLY));
  EXPECT_FALSE(succeeds([&](int) { return ::fcntl(secret.get(), F_GETFD) >= 0; }));
}

TEST_F(ImportConfineTest, NoSpecialFilesCanBeMade) {
  for (const mode_t type : {S_IFIFO, S_IFCHR, S_IFBLK, S_IFSOCK}) {
    EXPECT_FALSE(succeeds([&](int) { return ::mknodat(rootfs_.get(), "node", type | 0600u, 0) == 0; }));
  }
}

TEST_F(ImportConfineTest, NoProcessSocketMountOrTrace) {
  EXPECT_FALSE(succeeds([](int) { return ::syscall(SYS_fork) >= 0; }));
  EXPECT_FALSE(succeeds([](int) { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }));
  EXPECT_FALSE(succeeds([](int) { return ::execl("/proc/self/exe", "x", nullptr) == 0 || errno != EPERM; }));
  EXPECT_FALSE(succeeds([](int) { return ::mount("none", "/", "tmpfs", 0, nullptr) == 0 || errno != EPERM; }));
  EXPECT_FALSE(succeeds([](int) { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0; }));
  EXPECT_FALSE(succeeds([](int) { return ::chroot(".") == 0 || ::syscall(SYS_setuid, 0) == 0; }));
  EXPECT_FALSE(succeeds([](int) {
    return ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
  }));
}

}  // namespace
}  // namespace bj
