#include "sys/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "sys/pipe.h"
#include "sys/scratch_directory_for_test.h"
#include "sys/transfer.h"

namespace bj {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Works in a directory of its own, gone afterwards.
class FilesTest : public testing::Test {
 protected:
  void SetUp() override { dir_ = open_path(directory_, O_RDONLY | O_DIRECTORY).value(); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  void put(const std::string& name, std::string_view text) {
    ASSERT_TRUE(write_file_atomically(path(name), text, 0644));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_)) names.push_back(entry.path().filename());
    return names;
  }

  ScratchDirectory own_directory_;
  const std::string& directory_ = own_directory_.path();
  Fd dir_;
};

TEST_F(FilesTest, OpeningAddsCloseOnExec) {
  const Fd fd = open_path("/dev/null", O_RDONLY).value();
  EXPECT_EQ(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(FilesTest, AMissingFileIsNotFoundAndNamed) {
  const auto result = open_at(dir_.get(), "no-such-file", O_RDONLY);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kNotFound);
  EXPECT_THAT(result.error().what, HasSubstr("no-such-file"));
}

TEST_F(FilesTest, ReadingStopsAtTheLimitWithAnError) {
  put("big", std::string(1001, 'x'));
  EXPECT_EQ(read_file(path("big"), 1001)->size(), 1001u);
  const auto result = read_file(path("big"), 1000);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kInvalid);
  EXPECT_THAT(result.error().what, HasSubstr("larger than 1000 bytes"));
}

TEST_F(FilesTest, WritingAtomicallyReplacesTheFileAndLeavesNothingAside) {
  put("file", "old");
  ASSERT_TRUE(write_file_atomically(path("file"), "new", 0600));
  EXPECT_EQ(read_file(path("file")).value(), "new");
  struct stat info{};
  ASSERT_EQ(::stat(path("file").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_THAT(names(), UnorderedElementsAre("file"));
}

TEST_F(FilesTest, AFailedAtomicWriteLeavesNothingAside) {
  ASSERT_TRUE(make_directories(path("target/full"), 0755));
  EXPECT_FALSE(write_file_atomically(path("target"), "data", 0600));
  EXPECT_THAT(names(), UnorderedElementsAre("target"));
}

TEST_F(FilesTest, PutTextOverwritesButNeverCreates) {
  EXPECT_EQ(put_text(dir_.get(), "missing", "1").error().code, Code::kNotFound);
  put("there", "0");
  EXPECT_TRUE(put_text(dir_.get(), "there", "1"));
  EXPECT_EQ(read_file(path("there")).value(), "1");
}

TEST_F(FilesTest, MakingDirectoriesMakesParentsAndToleratesExistingOnes) {
  ASSERT_TRUE(make_directories(path("a/b/c"), 0700));
  ASSERT_TRUE(make_directories(path("a/b/c"), 0700));
  EXPECT_EQ(fs::status(path("a/b/c")).permissions(), fs::perms::owner_all);
}

TEST_F(FilesTest, MakingADirectoryBelowAFileFails) {
  put("file", "");
  const auto result = make_directories(path("file/below"), 0700);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().sys, ENOTDIR);
}

TEST_F(FilesTest, ListingGivesNamesAndTypesWithoutDots) {
  put("file", "");
  ASSERT_TRUE(make_directories(path("dir"), 0755));
  ASSERT_EQ(::symlink("/etc", path("link").c_str()), 0);
  std::vector<std::pair<std::string, int>> found;
  const auto entries = list_directory(dir_.get());
  ASSERT_TRUE(entries);
  for (const Entry& entry : *entries) found.emplace_back(entry.name, entry.type);
  EXPECT_THAT(found,
              UnorderedElementsAre(std::pair("file", DT_REG), std::pair("dir", DT_DIR), std::pair("link", DT_LNK)));
}

TEST_F(FilesTest, ListingTwiceStartsFromTheBeginningBothTimes) {
  put("file", "");
  EXPECT_EQ(list_directory(dir_.get())->size(), 1u);
  EXPECT_EQ(list_directory(dir_.get())->size(), 1u);
}

TEST_F(FilesTest, RemovingATreeTakesEverythingInIt) {
  ASSERT_TRUE(make_directories(path("tree/a/b"), 0755));
  put("tree/file", "1");
  put("tree/a/b/file", "2");
  ASSERT_TRUE(remove_tree(dir_.get(), "tree"));
  EXPECT_THAT(names(), IsEmpty());
}

// Sandboxes and archives nest as deep as they like; descriptors and stack are finite.
TEST_F(FilesTest, RemovingATreeDeeperThanTheDescriptorsAllowedWorks) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int depth = 1500;
  ASSERT_EQ(::mkdirat(dir_.get(), "tree", 0755), 0);
  Fd at = open_at(dir_.get(), "tree", O_RDONLY | O_DIRECTORY).value();
  for (int i = 0; i < depth; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0755), 0);
    at = open_at(at.get(), "d", O_RDONLY | O_DIRECTORY).value();
  }
  at.reset();
  const rlimit few{256, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto removed = remove_tree(dir_.get(), "tree");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(removed) << (removed ? "" : removed.error().what);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(FilesTest, RemovingATreeRemovesSymlinksNotWhatTheyPointTo) {
  ASSERT_TRUE(make_directories(path("outside"), 0755));
  put("outside/precious", "kept");
  ASSERT_TRUE(make_directories(path("tree"), 0755));
  ASSERT_EQ(::symlink(path("outside").c_str(), path("tree/directory").c_str()), 0);
  ASSERT_EQ(::symlink(path("outside/precious").c_str(), path("tree/file").c_str()), 0);
  ASSERT_EQ(::symlink("..", path("tree/up").c_str()), 0);
  ASSERT_TRUE(remove_tree(dir_.get(), "tree"));
  EXPECT_THAT(names(), UnorderedElementsAre("outside"));
  EXPECT_EQ(read_file(path("outside/precious")).value(), "kept");
}

TEST_F(FilesTest, RemovingASymlinkThatStandsForTheTreeLeavesItsTarget) {
  ASSERT_TRUE(make_directories(path("outside/kept"), 0755));
  ASSERT_EQ(::symlink("outside", path("tree").c_str()), 0);
  ASSERT_TRUE(remove_tree(dir_.get(), "tree"));
  EXPECT_THAT(names(), UnorderedElementsAre("outside"));
  EXPECT_TRUE(fs::exists(path("outside/kept")));
}

TEST_F(FilesTest, RemovingAMissingTreeIsNoFailure) { EXPECT_TRUE(remove_tree(dir_.get(), "no-such-tree")); }

TEST_F(FilesTest, AnAnonymousFileHoldsItsContentsAndCannotBeWritten) {
  const Fd file = anonymous_file("test", "contents").value();
  EXPECT_EQ(read_all(file.get(), 100, "memfd").value(), "contents");
  EXPECT_FALSE(write_all(file.get(), "x", "memfd"));
  const auto again = open_path("/proc/self/fd/" + std::to_string(file.get()), O_RDWR);
  EXPECT_TRUE(!again || !write_all(again->get(), "x", "memfd"));
}

TEST_F(FilesTest, AnAnonymousFileIsSealed) {
  const Fd file = anonymous_file("test", "contents").value();
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  EXPECT_EQ(::fcntl(file.get(), F_GET_SEALS) & kSeals, kSeals);
}

TEST_F(FilesTest, TransferMovesAFileToItsEndWhateverTheDescriptorsAre) {
  const std::string data(200'000, 'd');
  put("from", data);
  const Fd from = open_path(path("from"), O_RDONLY).value();
  const Fd to = open_path(path("to"), O_WRONLY | O_CREAT, 0644).value();
  EXPECT_EQ(transfer(from.get(), to.get()).value(), data.size());
  EXPECT_EQ(read_file(path("to")).value(), data);

  Pipe pipe = make_pipe().value();
  ASSERT_TRUE(write_all(pipe.write.get(), "through a pipe", "pipe"));
  pipe.write.reset();
  const Fd piped = open_path(path("piped"), O_WRONLY | O_CREAT, 0644).value();
  EXPECT_EQ(transfer(pipe.read.get(), piped.get()).value(), 14u);
  EXPECT_EQ(read_file(path("piped")).value(), "through a pipe");
}

TEST_F(FilesTest, TransferGoesOnFromTheCurrentOffset) {
  put("from", "0123456789");
  const Fd from = open_path(path("from"), O_RDONLY).value();
  ASSERT_EQ(::lseek(from.get(), 4, SEEK_SET), 4);
  const Fd to = open_path(path("to"), O_WRONLY | O_CREAT | O_APPEND, 0644).value();
  EXPECT_EQ(transfer(from.get(), to.get()).value(), 6u);
  EXPECT_EQ(read_file(path("to")).value(), "456789");
}

TEST_F(FilesTest, HolesAreFoundWhereAFileHasNoBytes) {
  const Fd file = open_at(dir_.get(), "sparse", O_RDWR | O_CREAT, 0600).value();
  constexpr off_t kStart = 1 << 20, kSize = 4 << 20;
  ASSERT_EQ(::pwrite(file.get(), "x", 1, kStart), 1);
  ASSERT_EQ(::ftruncate(file.get(), kSize), 0);
  const uint64_t data = next_data(file.get(), 0).value().value();
  EXPECT_LE(data, static_cast<uint64_t>(kStart));
  const uint64_t hole = next_hole(file.get(), data).value();
  EXPECT_GT(hole, static_cast<uint64_t>(kStart));
  EXPECT_EQ(next_data(file.get(), kSize - 1).value(), std::nullopt);
  EXPECT_FALSE(next_data(-1, 0));
}

}  // namespace
}  // namespace bj
