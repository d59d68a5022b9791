#include "engine/import/template_import.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "engine/import/import_digest.h"
#include "engine/import/import_test_support.h"

namespace bj {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using test::file;
using test::folder;
using test::hard_link;
using test::Item;
using test::make_tar;
using test::symlink_to;

class TemplateImportTest : public ::testing::Test {
 protected:
  std::string store() const { return temporary_.path() + "/templates"; }
  std::string root(const std::string& path = "") const {
    return store() + "/t/rootfs" + (path.empty() ? "" : "/" + path);
  }

  std::string write(const std::string& name, const std::string& bytes) const {
    const std::string path = temporary_.path() + "/" + name;
    EXPECT_TRUE(write_file_atomically(path, bytes, 0644));
    return path;
  }
  Result<ImportReport> import(const std::string& source) { return import_template(store(), "t", source, limits_, {}); }
  Result<ImportReport> import_items(std::vector<Item> items) {
    items.insert(items.begin(), folder("etc"));
    return import(write("t.tar", make_tar(items)));
  }
  // docker save of these layers.
  std::string docker(const std::vector<std::string>& layers, std::vector<Item> extra = {},
                     json::array names = {}) const {
    json::array ids;
    std::vector<Item> items = std::move(extra);
    for (size_t i = 0; i < layers.size(); ++i) {
      ids.emplace_back("sha256:" + sha256_hex(layers[i]));
      items.push_back(file(std::to_string(i) + "/layer.tar", layers[i]));
      if (names.size() < layers.size()) names.emplace_back(std::to_string(i) + "/layer.tar");
    }
    const json::object config{{"os", "linux"},
                              {"architecture", "amd64"},
                              {"rootfs", {{"diff_ids", ids}}},
                              {"config", {{"Env", {"GREETING=hi"}}, {"User", "app"}, {"WorkingDir", "/srv"}}}};
    items.push_back(file("config.json", json::serialize(config)));
    items.push_back(file("manifest.json",
                         json::serialize(json::array{json::object{{"Config", "config.json"}, {"Layers", names}}})));
    return write("t.tar", make_tar(items));
  }

  void expect_refused(const Result<ImportReport>& result, const std::string& part) {
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().what.find(part), std::string::npos) << result.error().what;
    expect_nothing_left();
  }
  void expect_nothing_left() {
    for (const auto& entry : fs::directory_iterator(store())) ADD_FAILURE() << entry.path() << " is left behind";
  }

  ScratchDirectory temporary_;
  ImportLimits limits_;
};

std::string text(const std::string& path) { return read_file(path).value_or("(missing)"); }
mode_t mode_of(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode : 0;
}
bool exists(const std::string& path) { return mode_of(path) != 0; }

TEST_F(TemplateImportTest, APlainTarBecomesATemplateThatIsComplete) {
  const auto report = import_items({file("etc/hello", "hi\n"), symlink_to("etc/link", "/etc/passwd"),
                                    hard_link("etc/same", "etc/hello"), file("./a/b/c", "deep"), file("/absolute", "x"),
                                    file("caf\xc3\xa9", "utf-8")});
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->kind, "tar");
  EXPECT_EQ(text(root("etc/hello")), "hi\n");
  EXPECT_EQ(text(root("etc/same")), "hi\n");
  EXPECT_EQ(text(root("a/b/c")), "deep");
  EXPECT_EQ(text(root("absolute")), "x");
  EXPECT_EQ(text(root("caf\xc3\xa9")), "utf-8");
  EXPECT_EQ(fs::read_symlink(root("etc/link")), "/etc/passwd");
  EXPECT_EQ(fs::last_write_time(root("etc/hello")), fs::last_write_time(root("a/b/c")));
  EXPECT_TRUE(exists(root("proc")) && exists(root("home/user")) && exists(root("etc/passwd")));
  EXPECT_FALSE(exists(store() + "/t/scratch"));
  const json::value about = json::parse(text(store() + "/t/template.json"));
  EXPECT_EQ(about.at("source").as_string(), "t.tar");
  EXPECT_EQ(about.at("kind").as_string(), "tar");
}

TEST_F(TemplateImportTest, TheReportSaysWhichLandlockConfinedIt) {
  const auto report = import_items({});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->landlock_abi >= 2 || !report->notes.empty());
}

TEST_F(TemplateImportTest, NamesThatAreTakenOrWrongAreRefused) {
  ASSERT_TRUE(import_items({}));
  const auto again = import_items({});
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().what.find("belljar template rm t"), std::string::npos);
  for (const char* name : {"", "..", ".hidden", "a/b", "A", "base", "-x"}) {
    EXPECT_FALSE(import_template(store(), name, temporary_.path() + "/t.tar", limits_, {})) << name;
  }
}

TEST_F(TemplateImportTest, MissingAndOddSourcesAreRefused) {
  EXPECT_EQ(import(temporary_.path() + "/missing").error().code, Code::kNotFound);
  EXPECT_FALSE(import("/dev/null"));
  EXPECT_FALSE(import(write("empty", "")));
}

TEST_F(TemplateImportTest, ASymlinkIsNeverFollowed) {
  const std::string outside = temporary_.path() + "/outside";
  fs::create_directory(outside);
  expect_refused(import_items({symlink_to("out", outside), file("out/evil")}), "lies below out, which is a symlink");
  expect_refused(import_items({folder("a"), symlink_to("a", outside), file("a/evil")}), "lies below a");
  expect_refused(import_items({symlink_to("out", outside), hard_link("etc/x", "out/evil")}), "lies below out");
  EXPECT_TRUE(fs::is_empty(outside));
}

TEST_F(TemplateImportTest, AFileReplacesASymlinkInsteadOfWritingThroughIt) {
  const std::string canary = write("canary", "unchanged");
  ASSERT_TRUE(
      import_items({symlink_to("etc/file", canary), file("etc/file", "new"), symlink_to("dir", "/tmp"), folder("dir"),
                    file("dir/in", "in"), folder("was/dir"), file("was/dir/x"), file("was", "now a file")}));
  EXPECT_EQ(text(canary), "unchanged");
  EXPECT_EQ(text(root("etc/file")), "new");
  EXPECT_EQ(text(root("dir/in")), "in");
  EXPECT_EQ(text(root("was")), "now a file");
}

TEST_F(TemplateImportTest, AFileDoesNotWriteThroughAHardLink) {
  ASSERT_TRUE(import_items(
      {file("etc/a", "one"), hard_link("etc/b", "etc/a"), file("etc/b", "two"), hard_link("etc/a", "etc/a")}));
  EXPECT_EQ(text(root("etc/a")), "one");
  EXPECT_EQ(text(root("etc/b")), "two");
}

TEST_F(TemplateImportTest, HardLinksToAnythingButAFileOfTheArchiveAreRefused) {
  const std::string canary = write("canary", "unchanged");
  for (const std::string& target :
       {canary, "../" + canary, std::string("etc"), std::string("etc/passwd"), std::string("/")}) {
    expect_refused(import_items({hard_link("etc/link", target)}), "is a hard link to");
  }
  expect_refused(import_items({symlink_to("etc/s", canary), hard_link("etc/link", "etc/s")}), "is a hard link to");
}

TEST_F(TemplateImportTest, NamesThatClimbOrDontFitAreRefused) {
  expect_refused(import_items({file("../evil")}), "\"..\"");
  expect_refused(import_items({file("a/../../evil")}), "\"..\"");
  expect_refused(import_items({file(std::string(300, 'n'))}), "255");
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "d/";
  expect_refused(import_items({file(deep + "x")}), "deep");
  expect_refused(import_items({symlink_to("./", "/tmp")}), "root directory");
}

TEST_F(TemplateImportTest, SpecialFilesSetIdBitsAndAttributesAreLeftOut) {
  Item with_attribute = file("etc/power");
  with_attribute.attribute = "security.capability";
  Item node{"etc/node", S_IFBLK, "", "", 0666, 0, 0, ""};
  const auto report = import_items({file("bin/su", "x", 06755),
                                    folder("bin/group", 02755),
                                    with_attribute,
                                    node,
                                    {"etc/fifo", S_IFIFO, "", "", 0666, 0, 0, ""},
                                    file("etc/sock", "x")});
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->special_files, 2u);
  EXPECT_EQ(report->set_id_bits, 2u);
  EXPECT_GE(report->attributes, 1u);
  EXPECT_EQ(mode_of(root("bin/su")), S_IFREG | 0755u);
  EXPECT_EQ(mode_of(root("bin/group")), S_IFDIR | 0755u);
  EXPECT_FALSE(exists(root("etc/node")) || exists(root("etc/fifo")));
  EXPECT_LT(::lgetxattr(root("etc/power").c_str(), "security.capability", nullptr, 0), 0);
}

TEST_F(TemplateImportTest, OurSudoIsLinkedWhereThePathLeadsFirst) {
  ASSERT_TRUE(import_items({folder("usr/local/bin"), file("usr/bin/sudo", "its own", 04755)}));
  EXPECT_EQ(fs::read_symlink(root("usr/local/bin/sudo")), "/opt/belljar/bin/sudo");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(root("usr/bin/sudo"))));
}

TEST_F(TemplateImportTest, OurSudoIsNotLinkedBehindALinkNorInPlaceOfAFile) {
  const std::string outside = temporary_.path() + "/outside";
  fs::create_directories(outside + "/bin");
  ASSERT_TRUE(import_items({folder("usr/bin"), symlink_to("usr/local", outside), file("usr/bin/sudo", "its own")}));
  EXPECT_TRUE(fs::is_empty(outside + "/bin"));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(root("usr/bin/sudo"))));
}

TEST_F(TemplateImportTest, OwnersBeyondTheRangeBecomeNobody) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root keeps owners";
  Item far = file("etc/far");
  far.uid = 1 << 30;
  far.gid = 33;
  Item near = file("etc/near");
  near.uid = 65535;
  near.gid = 7;
  const auto report = import_items({far, near});
  ASSERT_TRUE(report);
  struct stat info{};
  ASSERT_EQ(::stat(root("etc/far").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 65534u);
  EXPECT_EQ(info.st_gid, 33u);
  ASSERT_EQ(::stat(root("etc/near").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 65535u);
  EXPECT_EQ(report->owners, 1u);
}

TEST_F(TemplateImportTest, EveryLimitHasItsSentence) {
  limits_.max_entries = 5;
  expect_refused(import_items({file("a/b/c/d/e/f")}), "5 entries");
  limits_ = {};
  limits_.max_file_bytes = 100;
  expect_refused(import_items({file("etc/x", std::string(101, 'x'))}), "100 bytes");
  limits_ = {};
  limits_.max_total_bytes = 10000;
  expect_refused(import_items({file("etc/x", std::string(6000, 'x')), file("etc/x", std::string(6000, 'x'))}),
                 "10000 bytes");
  limits_ = {};
  limits_.max_layers = 1;
  expect_refused(import(docker({make_tar({folder("a")}), make_tar({folder("b")})})), "2 layers");
}

TEST_F(TemplateImportTest, ASparseFileCountsByItsApparentSize) {
  std::string bytes;
  archive* out = archive_write_new();
  archive_write_set_format_pax(out);
  archive_write_open(out, &bytes, nullptr, test::append_bytes, nullptr);
  test::write_item(out, folder("etc"));
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, "etc/sparse");
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_perm(entry, 0644);
  archive_entry_set_size(entry, 1 << 30);
  archive_entry_sparse_add_entry(entry, 1 << 20, 4);
  archive_write_header(out, entry);
  const std::string data = std::string(1 << 20, '\0') + "data";
  archive_write_data(out, data.data(), data.size());
  archive_entry_free(entry);
  archive_write_close(out);
  archive_write_free(out);
  const auto report = import(write("t.tar", bytes));
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->bytes, 1u << 30);
  struct stat info{};
  ASSERT_EQ(::stat(root("etc/sparse").c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 1 << 30);
  EXPECT_LT(info.st_blocks, 100);
  ASSERT_TRUE(remove_tree(AT_FDCWD, store() + "/t"));
  limits_.max_total_bytes = 1 << 29;
  expect_refused(import(temporary_.path() + "/t.tar"), "bytes in all");
}

TEST_F(TemplateImportTest, ManyFilesBeforeTheFirstRootDirectoryAreNoImage) {
  std::vector<Item> items;
  for (int i = 0; i < 2100; ++i) items.push_back(file("app/" + std::to_string(i), "x"));
  items.push_back(folder("etc"));
  const auto report = import(write("t.tar", make_tar(items)));
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(text(root("app/2099")), "x");
  items.pop_back();
  ASSERT_TRUE(remove_tree(AT_FDCWD, store() + "/t"));
  expect_refused(import(write("t.tar", make_tar(items))), "neither a root filesystem");
}

TEST_F(TemplateImportTest, DamageIsNamedWithItsPlace) {
  const std::string whole = make_tar({folder("etc"), file("etc/x", std::string(50000, 'x')), file("etc/y", "y")});
  expect_refused(import(write("cut.tar", whole.substr(0, 20000))), "cut.tar is damaged after entry 2 (etc/x)");
  expect_refused(import(write("cut.tar", make_tar({folder("etc")}).substr(0, 512))), "cut off");
  expect_refused(import(write("junk", std::string(9999, 'j'))), "not a tar");
  expect_refused(import(write("none.tar", make_tar({file("readme")}))), "neither a root filesystem");
}

TEST_F(TemplateImportTest, LayersLieOnEachOtherAndWhiteoutsDeleteOnlyEarlierOnes) {
  const std::string below =
      make_tar({folder("etc"), file("etc/gone", "1"), file("etc/kept", "1"), folder("opq"), file("opq/old"),
                folder("opq/sub"), file("opq/sub/old"), folder("tree"), file("tree/x")});
  const std::string above =
      make_tar({file("etc/.wh.gone", ""), file("etc/new", "2"), file("etc/.wh.new", ""), file("opq/sub/new", "2"),
                file("opq/.wh..wh..opq", ""), file(".wh.tree", ""), file("tree2/.wh.nothing", "")});
  const auto report = import(docker({below, above}));
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->kind, "docker-archive");
  EXPECT_EQ(report->layers, 2u);
  EXPECT_FALSE(exists(root("etc/gone")) || exists(root("tree")) || exists(root("opq/old")) ||
               exists(root("opq/sub/old")));
  EXPECT_FALSE(exists(root("etc/.wh.gone")) || exists(root("opq/.wh..wh..opq")) || exists(root("tree2")));
  EXPECT_EQ(text(root("etc/kept")) + text(root("etc/new")) + text(root("opq/sub/new")), "122");
  const auto settings = read_image_settings(store() + "/t");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->environment.at("GREETING"), "hi");
  EXPECT_EQ(settings->user + settings->workdir, "app/srv");
}

TEST_F(TemplateImportTest, WhiteoutsCantReachOutOfTheTemplate) {
  const std::string canary = write("canary", "unchanged");
  const std::string below = make_tar({folder("etc"), symlink_to("out", temporary_.path())});
  expect_refused(import(docker({below, make_tar({file("out/.wh.canary", "")})})), "lies below out");
  expect_refused(import(docker({below, make_tar({file("out/.wh..wh..opq", "")})})), "lies below out");
  for (const char* name : {".wh.", ".wh..", ".wh...", "etc/.wh..."}) {
    expect_refused(import(docker({below, make_tar({file(name, "")})})), "whiteout of nothing");
  }
  EXPECT_EQ(text(canary), "unchanged");
}

TEST_F(TemplateImportTest, OldDockerLinksBetweenLayersAreFoundByNameInsideOnly) {
  const std::string layer = make_tar({folder("etc"), file("etc/x", "x")});
  EXPECT_TRUE(import(docker({layer}, {symlink_to("1/layer.tar", "../0/layer.tar")}, {"1/layer.tar"})));
  ASSERT_TRUE(remove_tree(AT_FDCWD, store() + "/t"));
  const std::string outside = write("outside.tar", layer);
  for (const std::string& target : {outside, "../../../../../../../.." + outside, std::string("layer.tar")}) {
    expect_refused(import(docker({layer}, {symlink_to("1/layer.tar", target)}, {"1/layer.tar"})), "1/layer.tar");
  }
  expect_refused(import(docker({layer}, {}, {json::string(outside)})), "not a file of the archive");
}

TEST_F(TemplateImportTest, ALayerThatDiffersFromItsDigestIsRefused) {
  const std::string layer = make_tar({folder("etc")});
  const std::string other = make_tar({folder("etc"), file("etc/evil")});
  expect_refused(import(docker({layer}, {file("x/layer.tar", other)}, {"x/layer.tar"})), "digest");
}

TEST_F(TemplateImportTest, AnOciLayoutDirectoryIsAnImage) {
  const std::string base = temporary_.path() + "/layout";
  fs::create_directories(base + "/blobs/sha256");
  const auto blob = [&](const std::string& data, const std::string& type) {
    EXPECT_TRUE(write_file_atomically(base + "/blobs/sha256/" + sha256_hex(data), data, 0644));
    return json::object{{"mediaType", "application/vnd.oci.image." + type},
                        {"digest", "sha256:" + sha256_hex(data)},
                        {"size", data.size()}};
  };
  const std::vector<Item> items = {folder("etc"), file("etc/hello", "hi")};
  const json::object layer = blob(make_tar(items, "zstd"), "layer.v1.tar+zstd");
  const json::object config = blob(
      json::serialize(json::object{{"os", "linux"},
                                   {"architecture", "amd64"},
                                   {"rootfs", {{"diff_ids", json::array{"sha256:" + sha256_hex(make_tar(items))}}}}}),
      "config.v1+json");
  const json::object manifest =
      blob(json::serialize(json::object{{"config", config}, {"layers", json::array{layer}}}), "manifest.v1+json");
  ASSERT_TRUE(write_file_atomically(base + "/index.json",
                                    json::serialize(json::object{{"manifests", json::array{manifest}}}), 0644));
  ASSERT_TRUE(write_file_atomically(base + "/oci-layout", R"({"imageLayoutVersion":"1.0.0"})", 0644));
  const auto report = import(base);
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->kind, "oci-layout");
  EXPECT_EQ(text(root("etc/hello")), "hi");
}

TEST_F(TemplateImportTest, ADirectoryIsCopiedByTheSameRules) {
  const std::string from = temporary_.path() + "/from";
  fs::create_directories(from + "/etc/sub");
  ASSERT_TRUE(write_file_atomically(from + "/etc/a", "one", 04755));
  fs::create_hard_link(from + "/etc/a", from + "/etc/sub/b");
  fs::create_symlink(temporary_.path(), from + "/out");
  ASSERT_EQ(::mkfifo((from + "/etc/fifo").c_str(), 0666), 0);
  const auto report = import(from);
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->kind, "directory");
  EXPECT_EQ(report->special_files, 1u);
  EXPECT_EQ(text(root("etc/sub/b")), "one");
  EXPECT_EQ(mode_of(root("etc/a")), S_IFREG | 0755u);
  EXPECT_TRUE(fs::is_symlink(root("out")));
  EXPECT_EQ(fs::hard_link_count(root("etc/a")), 2u);
}

TEST_F(TemplateImportTest, ADirectoryThatHoldsTheStoreIsCopiedWithoutIt) {
  fs::create_directories(temporary_.path() + "/etc");
  ASSERT_TRUE(import(temporary_.path()));
  EXPECT_FALSE(exists(root("templates")));
}

TEST_F(TemplateImportTest, WhatAKilledImportLeftIsRemovedAndALivingOneIsNot) {
  fs::create_directories(store() + "/.import-dead01/rootfs/etc");
  fs::create_directories(store() + "/.import-alive1/rootfs");
  const Fd alive(::open((store() + "/.import-alive1").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(alive.get(), LOCK_EX), 0);
  ASSERT_TRUE(import_items({}));
  EXPECT_FALSE(exists(store() + "/.import-dead01"));
  EXPECT_TRUE(exists(store() + "/.import-alive1"));
}

TEST_F(TemplateImportTest, AKilledImportLeavesNoTemplateAndItsChildDiesWithIt) {
  const std::string source =
      write("big.tar", make_tar({folder("etc"), file("etc/big", std::string(300u << 20, 'x'))}, "none"));
  const pid_t pid = ::fork();
  if (pid == 0) {
    (void)import_template(store(), "t", source, limits_, [](const ImportProgress&) { ::raise(SIGKILL); });
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  if (!WIFSIGNALED(status)) GTEST_SKIP() << "the import was over before its first progress";
  EXPECT_FALSE(exists(store() + "/t"));
  // The child holds the lock until the kernel has ended it.
  for (const auto& entry : fs::directory_iterator(store())) {
    const Fd left(::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    EXPECT_EQ(::flock(left.get(), LOCK_EX), 0);
  }
  ASSERT_TRUE(import_items({}));
  fs::remove_all(store() + "/t");
  expect_nothing_left();
}

TEST_F(TemplateImportTest, TimeIsLimited) {
  limits_.timeout_seconds = 0;
  const auto report = import_items({});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::kExhausted);
  expect_nothing_left();
}

// The hostile archives of tests/attacks/archives.py, each against its expectation.
class HostileArchivesTest : public TemplateImportTest {
 protected:
  // The canary's place is fixed, and `belljar selftest` uses it too: root gets a /var/tmp of its own for this process.
  static void SetUpTestSuite() {
    if (::geteuid() != 0 || ::unshare(CLONE_NEWNS) != 0) return;
    ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    ASSERT_EQ(::mount("tmpfs", "/var/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"), 0);
  }
  void SetUp() override {
    directory_ = temporary_.path() + "/archives";
    const std::string command = "python3 '" BELLJAR_TESTS_DIRECTORY "/attacks/archives.py' '" + directory_ + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    index_ = json::parse(text(directory_ + "/index.json"));
    canary_ = index_.at("canary").as_string().c_str();
    evil_ = index_.at("evil").as_string().c_str();
    made_ = !exists(canary_);
    if (made_) ASSERT_TRUE(write_file_atomically(canary_, "canary", 0644));
    before_ = text(canary_);
  }
  void TearDown() override {
    if (made_) ::unlink(canary_.c_str());
  }

  void judge(const json::object& each) {
    const std::string expectation(each.at("expectation").as_string());
    const auto report = import(directory_ + "/" + std::string(each.at("file").as_string()));
    if (expectation == "refused") EXPECT_FALSE(report);
    if (expectation == "imported") EXPECT_TRUE(report) << report.error().what;
    EXPECT_FALSE(exists(evil_));
    EXPECT_EQ(text(canary_), before_);
    if (report) {
      if (const json::value* wanted = each.if_contains("look_for"))
        EXPECT_TRUE(exists(root(wanted->as_string().c_str())));
      for (const auto& entry : fs::recursive_directory_iterator(root())) judge_file(entry.path());
      ASSERT_TRUE(remove_tree(AT_FDCWD, store() + "/t"));
    } else {
      for (const char c : report.error().what) EXPECT_TRUE(c >= ' ' && c <= '~');
    }
    expect_nothing_left();
  }
  static void judge_file(const fs::path& path) {
    struct stat info{};
    ASSERT_EQ(::lstat(path.c_str(), &info), 0);
    EXPECT_TRUE(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) || S_ISLNK(info.st_mode)) << path;
    EXPECT_EQ(info.st_mode & (S_ISUID | S_ISGID), 0u) << path;
    EXPECT_TRUE(info.st_uid < 65536 && info.st_gid < 65536) << path;
    EXPECT_LE(::llistxattr(path.c_str(), nullptr, 0), 0) << path;
  }

  std::string directory_, canary_, evil_, before_;
  bool made_ = false;
  json::value index_;
};

TEST_F(HostileArchivesTest, EachIsTreatedAsExpected) {
  for (const json::value& each : index_.at("archives").as_array()) {
    SCOPED_TRACE(json::serialize(each));
    judge(each.as_object());
  }
}

TEST_F(HostileArchivesTest, DeletionsOfALayerAreObeyed) {
  ASSERT_TRUE(import(directory_ + "/good_whiteouts.docker.tar"));
  EXPECT_FALSE(exists(root("etc/belljar-good")) || exists(root("usr/share")));
}

}  // namespace
}  // namespace bj
