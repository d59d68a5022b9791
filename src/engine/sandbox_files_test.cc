#include "engine/sandbox_files.h"

#include <ctime>

#include "engine/engine_test_support.h"

namespace bj {
namespace {

class SandboxFilesTest : public EngineStory {
 protected:
  // Of a sandbox in which `script` has run.
  void with_files(const std::string& script, const std::function<Task<Result<void>>(SandboxFiles&)>& story) {
    tell({}, [script, story](Engine& engine) -> Task<Result<void>> {
      BJ_CO_TRY(const std::shared_ptr<Sandbox> sandbox, co_await sandbox_of(engine));
      BJ_CO_CHECK(co_await output(*sandbox, script));
      SandboxFiles files(engine.host(), sandbox);
      Result<void> told = co_await story(files);
      co_await sandbox->destroy();
      co_return told;
    });
  }
};

// Once, it was refused as no directory, where a listing went through.
TEST_F(SandboxFilesTest, ASearchMayBeginAtALinkToADirectory) {
  with_files("mkdir real; echo wanted > real/note; ln -s real link", [](SandboxFiles& files) -> Task<Result<void>> {
    BJ_CO_TRY(const FileListing listed, co_await files.list("link", "", 1));
    EXPECT_EQ(listed.entries.size(), 1u);
    FileSearch what;
    what.path = "link";
    what.text = "wanted";
    BJ_CO_TRY(const std::vector<FileMatch> found, co_await files.search(what, ""));
    EXPECT_EQ(found.size(), 1u);
    if (!found.empty()) EXPECT_EQ(found[0].path, "/home/user/link/note");
    co_return Result<void>();
  });
}

TEST_F(SandboxFilesTest, ASearchTellsLinesAndStopsAtItsLimit) {
  with_files("printf 'a\nwanted 1\nb\nwanted 2' > one; printf 'wanted\\0' > binary; echo wanted 3 > two",
             [](SandboxFiles& files) -> Task<Result<void>> {
               FileSearch what;
               what.path = ".";
               what.name = "[bot]*";
               what.text = "wanted";
               BJ_CO_TRY(const std::vector<FileMatch> all, co_await files.search(what, ""));
               EXPECT_EQ(all.size(), 3u);
               if (all.size() == 3) EXPECT_EQ(all[1].line, 4u);
               if (all.size() == 3) EXPECT_EQ(all[1].text, "wanted 2");
               what.limit = 2;
               BJ_CO_TRY(const std::vector<FileMatch> some, co_await files.search(what, ""));
               EXPECT_EQ(some.size(), 2u);
               co_return Result<void>();
             });
}

// Once, a text that almost fits everywhere held the server's thread up for seconds a file.
TEST_F(SandboxFilesTest, ASearchTakesNoLongerForATextThatAlmostFits) {
  with_files("head -c 4000000 /dev/zero | tr '\\0' a > long", [](SandboxFiles& files) -> Task<Result<void>> {
    FileSearch what;
    what.path = ".";
    what.text = std::string(16'000, 'a') + "b";
    const std::clock_t before = std::clock();
    BJ_CO_TRY(const std::vector<FileMatch> found, co_await files.search(what, ""));
    EXPECT_TRUE(found.empty());
    EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 4) << "of processor time";
    co_return Result<void>();
  });
}

TEST_F(SandboxFilesTest, ATreeIsRemovedWithAllThatIsInIt) {
  with_files(
      "mkdir -p t/$(seq -s / 50) $(seq -f t/wide/%g 300); touch t/1/2/file t/wide/7/file; ln -s /etc t/wide/8/link",
      [](SandboxFiles& files) -> Task<Result<void>> {
        BJ_CO_CHECK(co_await files.remove("t", "", Removal::kTree));
        const Result<FileInfo> gone = co_await files.stat("t", "");
        EXPECT_FALSE(gone);
        EXPECT_TRUE(co_await files.stat("/etc/passwd", ""));
        co_return Result<void>();
      });
}

// Once, each of many directories was a new listing of all of them: some thousand took minutes of a worker.
TEST_F(SandboxFilesTest, ManyDirectoriesAreRemovedInTimeThatGrowsWithTheirNumberAlone) {
  with_files("mkdir -p $(seq -f t/%g 4000)", [](SandboxFiles& files) -> Task<Result<void>> {
    const std::clock_t before = std::clock();
    BJ_CO_CHECK(co_await files.remove("t", "", Removal::kTree));
    EXPECT_LT(std::clock() - before, 4 * CLOCKS_PER_SEC) << "of processor time";
    co_return Result<void>();
  });
}

// Once, whoever had asked for files of a sandbox that was then ended took the server down with it.
TEST_F(SandboxFilesTest, ASearchInASandboxThatEndsMeanwhileFails) {
  tell({}, [](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(const std::shared_ptr<Sandbox> sandbox, co_await sandbox_of(engine));
    BJ_CO_CHECK(co_await output(*sandbox, "mkdir -p $(seq -f d/%g 500)"));
    const auto files = std::make_shared<SandboxFiles>(engine.host(), sandbox);
    std::vector<std::shared_ptr<OneShot<Result<std::vector<FileMatch>>>>> searches;
    for (int i = 0; i < 4; ++i) {
      searches.push_back(std::make_shared<OneShot<Result<std::vector<FileMatch>>>>(engine.host().executor));
      spawn(engine.host().executor, [files, done = searches.back()]() -> Task<void> {
        FileSearch what;
        what.path = "d";
        what.text = "x";
        done->set(co_await files->search(what, ""));
      });
    }
    for (int i = 0; i < 100; ++i) co_await asio::post(engine.host().executor, asio::use_awaitable);
    co_await sandbox->destroy();
    for (const auto& search : searches) {
      BJ_CO_TRY(const Result<std::vector<FileMatch>> found, co_await search->get());
      EXPECT_FALSE(found);
      if (!found) EXPECT_EQ(found.error().code, Code::kUnavailable) << found.error().what;
    }
    co_return Result<void>();
  });
}

}  // namespace
}  // namespace bj
