#include "engine/templates/base_packages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

namespace fs = std::filesystem;

class BasePackagesTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root()); }

  void host_file(const std::string& path, const std::string& text, mode_t mode = 0644) {
    fs::create_directories(fs::path(host() + path).parent_path());
    ASSERT_TRUE(write_file_atomically(host() + path, text, mode));
  }
  std::string host() const { return scratch_ + "/host"; }
  std::string root() const { return scratch_ + "/root"; }
  bool has(const std::string& path) const { return fs::exists(root() + path); }

  ScratchDirectory own_directory_;
  const std::string& scratch_ = own_directory_.path();
};

TEST_F(BasePackagesTest, DpkgFindsTheHostsPackagesWithoutFiles) {
  host_file(
      "/var/lib/dpkg/status",
      "Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nMulti-Arch: same\nDescription: the C library\n"
      " Package: not this\n\nPackage: bash\nArchitecture: amd64\n\nPackage: ../../etc/odd\nArchitecture: all\n");
  host_file("/var/lib/dpkg/alternatives/editor", "auto\n/usr/bin/editor\n");
  ASSERT_TRUE(add_package_database(root(), host()));
  EXPECT_EQ(read_file(root() + "/var/lib/dpkg/status")->substr(0, 14), "Package: libc6");
  EXPECT_TRUE(has("/var/lib/dpkg/info/libc6:amd64.list"));
  EXPECT_EQ(fs::file_size(root() + "/var/lib/dpkg/info/libc6:amd64.list"), 0u);
  EXPECT_TRUE(has("/var/lib/dpkg/info/bash.list"));
  EXPECT_FALSE(has("/etc/odd.list"));
  EXPECT_TRUE(has("/var/lib/dpkg/alternatives/editor"));
  EXPECT_TRUE(has("/etc/apt/apt.conf.d"));
}

TEST_F(BasePackagesTest, SourcesThatHoldAPasswordOrAreTheHostsOwnStayThere) {
  host_file("/var/lib/dpkg/status", "Package: bash\n");
  host_file("/etc/apt/sources.list", "deb https://me:secret@mirror.example.org/debian bookworm main\n");
  host_file("/etc/apt/sources.list.d/public.list", "deb http://deb.debian.org/debian bookworm main\n");
  host_file("/etc/apt/sources.list.d/private.list", "deb http://mirror.example.org/ x main\n", 0640);
  ASSERT_TRUE(add_package_database(root(), host()));
  EXPECT_TRUE(has("/etc/apt/sources.list.d/public.list"));
  EXPECT_FALSE(has("/etc/apt/sources.list.d/private.list"));
  EXPECT_FALSE(has("/etc/apt/sources.list"));
}

TEST_F(BasePackagesTest, ASystemWithoutDpkgIsLeftAlone) {
  ASSERT_TRUE(add_package_database(root(), host()));
  EXPECT_TRUE(fs::is_empty(root()));
}

}  // namespace
}  // namespace bj
