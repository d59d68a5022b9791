#include "engine/layers/layer_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

namespace fs = std::filesystem;

std::string contents(const std::string& path) { return read_file(path).value_or(""); }

// A sandbox's filesystem as a directory: u0 is what was written below "/", u1 below /usr.
struct LayerStoreTest : testing::Test {
  void SetUp() override {
    fs::create_directories(root + "/scratch/u0");
    fs::create_directories(root + "/scratch/u1");
    Result<Fd> scratch = open_path(root + "/scratch", O_RDONLY | O_DIRECTORY);
    ASSERT_TRUE(scratch);
    upper.filesystem = std::make_shared<const Fd>(std::move(*scratch));
    upper.places = {{"u0", "/"}, {"u1", "/usr"}};
  }

  std::string at(const std::string& path) const { return root + "/scratch/u0/" + path; }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(at(path)).parent_path());
    std::ofstream(at(path), std::ios::binary) << text;
  }
  // The place of the layer's copy of "/".
  std::string captured() {
    Result<Layer> layer = store().capture(upper);
    EXPECT_TRUE(layer) << (layer ? "" : layer.error().what);
    if (!layer || layer->trees.empty()) return "";
    last = *layer;
    return layer->trees.front().path + "/";
  }
  std::string refusal(const LayerLimits& limits = {}) const {
    const Result<Layer> layer = store().capture(upper, limits);
    EXPECT_FALSE(layer);
    EXPECT_TRUE(store().ids()->empty());
    EXPECT_TRUE(fs::is_empty(root + "/layers"));
    return layer ? "" : layer.error().what;
  }
  LayerStore store() const { return LayerStore(root + "/layers"); }

  ScratchDirectory own_directory;
  const std::string& root = own_directory.path();
  UpperFiles upper;
  Layer last;
};

TEST_F(LayerStoreTest, KeepsFilesWithTheirModesAndTimes) {
  write("home/user/note", "hello");
  ::chmod(at("home/user/note").c_str(), 0640);
  ::chmod(at("home/user").c_str(), 01700);
  const std::array<timespec, 2> times{{{1000, 5}, {2000, 7}}};
  ::utimensat(AT_FDCWD, at("home/user/note").c_str(), times.data(), 0);
  ::utimensat(AT_FDCWD, at("home").c_str(), times.data(), 0);
  const std::string copy = captured();
  EXPECT_EQ(contents(copy + "home/user/note"), "hello");
  struct stat info{};
  ASSERT_EQ(::stat((copy + "home/user/note").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
  EXPECT_EQ(info.st_mtim.tv_sec, 2000);
  EXPECT_EQ(info.st_mtim.tv_nsec, 7);
  ASSERT_EQ(::stat((copy + "home/user").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 01700u);
  ASSERT_EQ(::stat((copy + "home").c_str(), &info), 0);
  EXPECT_EQ(info.st_mtim.tv_sec, 2000);
}

TEST_F(LayerStoreTest, OnlyTargetsThatWereWrittenToAreInIt) {
  write("note", "x");
  captured();
  ASSERT_EQ(last.trees.size(), 1u);
  EXPECT_EQ(last.trees[0].target, "/");
  std::ofstream(root + "/scratch/u1/tool") << "y";
  captured();
  ASSERT_EQ(last.trees.size(), 2u);
  EXPECT_EQ(last.trees[1].target, "/usr");
  EXPECT_EQ(contents(last.trees[1].path + "/tool"), "y");
}

TEST_F(LayerStoreTest, SymlinksAreCopiedAsTheyAreAndNeverFollowed) {
  ::symlink("/etc/passwd", at("link").c_str());
  ::symlink("/etc", at("directory").c_str());
  ::symlink("../../../../../../etc", at("up").c_str());
  const std::string copy = captured();
  EXPECT_EQ(fs::read_symlink(copy + "link"), "/etc/passwd");
  EXPECT_EQ(fs::read_symlink(copy + "directory"), "/etc");
  EXPECT_EQ(fs::read_symlink(copy + "up"), "../../../../../../etc");
  EXPECT_EQ(last.counts.entries, 3u);
}

TEST_F(LayerStoreTest, OddNamesAreJustNames) {
  const std::string name = "..\n\\ \xff*";
  write(name, "odd");
  write("...", "dots");
  const std::string copy = captured();
  EXPECT_EQ(contents(copy + name), "odd");
  EXPECT_EQ(contents(copy + "..."), "dots");
}

TEST_F(LayerStoreTest, HardLinksStayOneFileAndCountOnce) {
  const std::string megabyte(1 << 20, 'x');
  write("first", megabyte);
  fs::create_directories(at("deep/er"));
  for (int i = 0; i < 100; ++i) fs::create_hard_link(at("first"), at("deep/er/" + std::to_string(i)));
  const std::string copy = captured();
  struct stat info{};
  ASSERT_EQ(::stat((copy + "deep/er/7").c_str(), &info), 0);
  EXPECT_EQ(info.st_nlink, 101u);
  EXPECT_EQ(contents(copy + "first"), megabyte);
  EXPECT_LT(last.counts.size_bytes, 2u << 20);
}

TEST_F(LayerStoreTest, HolesStayHoles) {
  const Fd file(::open(at("sparse").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  ASSERT_EQ(::ftruncate(file.get(), off_t{64} << 30), 0);
  ASSERT_EQ(::pwrite(file.get(), "end", 3, (off_t{64} << 30) - 3), 3);
  ASSERT_EQ(::pwrite(file.get(), "middle", 6, off_t{1} << 30), 6);
  const std::string copy = captured();
  struct stat info{};
  ASSERT_EQ(::stat((copy + "sparse").c_str(), &info), 0);
  EXPECT_EQ(info.st_size, off_t{64} << 30);
  EXPECT_LT(info.st_blocks * 512, 1 << 20);
  const Fd read(::open((copy + "sparse").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 7> text{};
  ASSERT_EQ(::pread(read.get(), text.data(), 6, off_t{1} << 30), 6);
  EXPECT_STREQ(text.data(), "middle");
  EXPECT_LT(last.counts.size_bytes, 1u << 20);
}

TEST_F(LayerStoreTest, ManyLargeFilesAreAllWhole) {
  for (int i = 0; i < 70; ++i) write("big/" + std::to_string(i), std::string(300'000, static_cast<char>('a' + i % 26)));
  const std::string copy = captured();
  for (int i = 0; i < 70; ++i)
    EXPECT_EQ(contents(copy + "big/" + std::to_string(i)), contents(at("big/" + std::to_string(i)))) << i;
}

TEST_F(LayerStoreTest, SetIdBitsAreKept) {
  write("tool", "#!");
  ::chmod(at("tool").c_str(), 06755);
  const std::string copy = captured();
  struct stat info{};
  ASSERT_EQ(::stat((copy + "tool").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 06755u);
  ASSERT_EQ(::stat((root + "/layers").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 077, 0u) << "a set-user-id file must not be reachable on the host";
}

TEST_F(LayerStoreTest, UserAttributesAndOpacityAreKeptAndTheOverlaysOwnNotesAreNot) {
  write("file", "x");
  fs::create_directories(at("replaced"));
  ASSERT_EQ(::setxattr(at("file").c_str(), "user.colour", "blue", 4, 0), 0) << std::strerror(errno);
  ASSERT_EQ(::setxattr(at("file").c_str(), "user.overlay.origin", "o", 1, 0), 0);
  ASSERT_EQ(::setxattr(at("file").c_str(), "user.overlay.metacopy", "", 0, 0), 0);
  ASSERT_EQ(::setxattr(at("file").c_str(), "user.overlay.redirect", "/etc", 4, 0), 0);
  ASSERT_EQ(::setxattr(at("replaced").c_str(), "user.overlay.opaque", "y", 1, 0), 0);
  const std::string copy = captured();
  std::array<char, 256> names{};
  const ssize_t size = ::listxattr((copy + "file").c_str(), names.data(), names.size());
  EXPECT_EQ(std::string(names.data(), static_cast<size_t>(size)), std::string("user.colour\0", 12));
  EXPECT_EQ(::getxattr((copy + "replaced").c_str(), "user.overlay.opaque", names.data(), names.size()), 1);
}

TEST_F(LayerStoreTest, WhiteoutsAreKept) {
  if (::mknod(at("deleted").c_str(), S_IFCHR, 0) != 0) GTEST_SKIP() << "whiteouts can't be made here";
  const std::string copy = captured();
  struct stat info{};
  ASSERT_EQ(::lstat((copy + "deleted").c_str(), &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  EXPECT_EQ(info.st_rdev, 0u);
}

TEST_F(LayerStoreTest, DevicesAreRefused) {
  if (::mknod(at("null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) GTEST_SKIP() << "needs root";
  EXPECT_EQ(refusal(), "/null: is a device");
}

TEST_F(LayerStoreTest, FifosAreKeptAndSocketsLeftOut) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0620), 0);
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  at("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string copy = captured();
  EXPECT_TRUE(fs::is_fifo(copy + "fifo"));
  EXPECT_FALSE(fs::exists(copy + "socket"));
  EXPECT_EQ(last.counts.sockets_left_out, 1u);
}

TEST_F(LayerStoreTest, OwnersAreShiftedAndStrangersRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  upper.ids = {100000, 65536};
  write("mine", "x");
  ::symlink("mine", at("link").c_str());
  for (const char* name : {"", "mine", "link"}) ASSERT_EQ(::lchown(at(name).c_str(), 101000, 100005), 0);
  const std::string copy = captured();
  struct stat info{};
  for (const char* name : {"mine", "link"}) {
    ASSERT_EQ(::lstat((copy + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, 1000u) << name;
    EXPECT_EQ(info.st_gid, 5u) << name;
  }
  ASSERT_EQ(::chown(at("mine").c_str(), 0, 0), 0);
  fs::remove_all(root + "/layers");
  EXPECT_EQ(refusal(), "/mine: belongs to nobody of the sandbox");
}

TEST_F(LayerStoreTest, TreesBeyondTheLimitsAreRefusedAndLeaveNothing) {
  std::string path = at("d");
  for (int i = 0; i < 40; ++i) path += "/d";
  fs::create_directories(path);
  LayerLimits shallow;
  shallow.max_depth = 20;
  EXPECT_EQ(refusal(shallow), "what the sandbox has written lies too many directories deep");
  LayerLimits few;
  few.max_entries = 10;
  EXPECT_EQ(refusal(few), "the sandbox has written more files than a layer may have");
  fs::remove_all(at("d"));
  write("large", std::string(200'000, 'x'));
  LayerLimits small;
  small.max_bytes = 100'000;
  EXPECT_EQ(refusal(small), "the sandbox has written more than a layer may hold");
}

TEST_F(LayerStoreTest, ACopyThatIsToldToStopLeavesNothing) {
  write("note", "x");
  const std::atomic<bool> stop = true;
  EXPECT_FALSE(store().capture(upper, {}, &stop));
  EXPECT_TRUE(fs::is_empty(root + "/layers"));
}

TEST_F(LayerStoreTest, ALayerIsFoundAsItWasMade) {
  write("note", "x");
  captured();
  const Result<Layer> found = store().find(last.id);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->trees.size(), 1u);
  EXPECT_EQ(found->trees[0].path, last.trees[0].path);
  EXPECT_EQ(found->trees[0].target, "/");
  EXPECT_EQ(found->counts.size_bytes, last.counts.size_bytes);
  EXPECT_FALSE(found->durable);
  EXPECT_FALSE(store().find("../scratch"));
  EXPECT_FALSE(store().find("lyaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

TEST_F(LayerStoreTest, AfterTheMachinesEndOnlyDurableLayersAreFound) {
  write("note", "x");
  captured();
  const std::string record = root + "/layers/" + last.id + "/layer.json";
  const auto end_machine = [&] {
    std::string text = contents(record);
    text.replace(text.find("\"boot\":\"") + 8, 4, "0000");
    std::ofstream(record) << text;
  };
  ASSERT_TRUE(store().make_durable(last.id));
  end_machine();
  EXPECT_TRUE(store().find(last.id));
  fs::remove(root + "/layers/" + last.id + "/durable");
  const Result<Layer> lost = store().find(last.id);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().what, "the machine went down before these files had reached its disk");
}

TEST_F(LayerStoreTest, OneThatIsHeldIsNotRemoved) {
  write("note", "x");
  captured();
  ASSERT_TRUE(store().remove(last.id));
  EXPECT_TRUE(store().find(last.id));
  const std::string id = last.id;
  last = Layer();
  ASSERT_TRUE(store().remove(id));
  EXPECT_FALSE(store().find(id));
  EXPECT_TRUE(store().remove(id)) << "a missing one is no failure";
}

// A maker that died left its directory unlocked; one that died while it removed left it under the other name.
TEST_F(LayerStoreTest, AStartRemovesWhatNobodyMakesOrRefersTo) {
  write("note", "x");
  captured();
  const std::string kept = last.id;
  captured();
  const std::string unknown = std::exchange(last, Layer()).id;
  fs::create_directories(root + "/layers/.new-lyx/0/deep");
  fs::create_directories(root + "/layers/.gone-lyx/0/deep");
  fs::create_directories(root + "/layers/somebody-elses");
  const Result<size_t> removed = store().remove_unless([&](const std::string& id) { return id == kept; });
  ASSERT_TRUE(removed);
  EXPECT_EQ(*removed, 1u);
  EXPECT_EQ(*store().ids(), std::vector<std::string>{kept});
  EXPECT_FALSE(fs::exists(root + "/layers/.new-lyx"));
  EXPECT_FALSE(fs::exists(root + "/layers/.gone-lyx"));
  EXPECT_TRUE(fs::exists(root + "/layers/somebody-elses"));
  EXPECT_NE(kept, unknown);
}

TEST_F(LayerStoreTest, JoinedLayersShowWhatTheyShowedTogetherAndShareTheirFiles) {
  if (::mknod(at("probe").c_str(), S_IFCHR, 0) != 0) GTEST_SKIP() << "whiteouts can't be made here";
  fs::remove(at("probe"));
  write("both", "lower");
  write("lower", "lower");
  write("gone", "lower");
  write("dir/lower", "lower");
  write("replaced/lower", "lower");
  write("file-then-dir", "lower");
  ASSERT_EQ(::mknod(at("deleted-then-dir").c_str(), S_IFCHR, 0), 0);
  captured();
  const Layer lower = last;
  fs::remove_all(root + "/scratch/u0");
  fs::create_directories(root + "/scratch/u0");
  write("both", "upper");
  write("dir/upper", "upper");
  write("replaced/upper", "upper");
  write("file-then-dir/upper", "upper");
  write("deleted-then-dir/upper", "upper");
  ::chmod(at("dir").c_str(), 0711);
  ASSERT_EQ(::setxattr(at("replaced").c_str(), "user.overlay.opaque", "y", 1, 0), 0);
  ASSERT_EQ(::mknod(at("gone").c_str(), S_IFCHR, 0), 0);
  captured();
  const Layer upper_layer = last;

  const Result<Layer> joined = store().join({lower.id, upper_layer.id});
  ASSERT_TRUE(joined) << joined.error().what;
  const std::string copy = joined->trees.at(0).path + "/";
  EXPECT_EQ(contents(copy + "both"), "upper");
  EXPECT_EQ(contents(copy + "lower"), "lower");
  EXPECT_EQ(contents(copy + "dir/lower") + contents(copy + "dir/upper"), "lowerupper");
  EXPECT_FALSE(fs::exists(copy + "replaced/lower"));
  struct stat info{};
  ASSERT_EQ(::lstat((copy + "gone").c_str(), &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode)) << "what lies below must stay deleted";
  ASSERT_EQ(::stat((copy + "dir").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0711u);
  char value = 0;
  for (const char* name : {"replaced", "file-then-dir", "deleted-then-dir"}) {
    EXPECT_EQ(::getxattr((copy + name).c_str(), "user.overlay.opaque", &value, 1), 1) << name;
    EXPECT_EQ(contents(copy + name + "/upper"), "upper") << name;
  }
  ASSERT_EQ(::stat((copy + "lower").c_str(), &info), 0);
  EXPECT_EQ(info.st_nlink, 2u);
  EXPECT_EQ(contents(lower.trees[0].path + "/both"), "lower");
}

TEST_F(LayerStoreTest, StackedOnATemplateEachTreeIsAboveThoseOfItsTarget) {
  Template image;
  image.layers = {{"/t/root", "/"}, {"/t/mask", "/usr"}, {"/usr", "/usr"}};
  Layer layer;
  layer.trees = {{"/l/0", "/"}, {"/l/1", "/usr"}};
  const Template stack = stacked(image, layer);
  std::vector<std::string> paths;
  for (const TemplateLayer& one : stack.layers) paths.push_back(one.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"/l/0", "/t/root", "/l/1", "/t/mask", "/usr"}));
}

}  // namespace
}  // namespace bj
