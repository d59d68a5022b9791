// Environments in one process, with builders that really run and an index that is not there: needs root, else it is
// skipped with the reason. What is installed from a real one is told in tests/e2e/environments_test.py.
#include "engine/environments/environments.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/engine.h"
#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

class EnvironmentsTest : public testing::Test {
 protected:
  void tell(std::function<Task<void>(Engine&)> story) {
    asio::io_context context(1);
    EngineOptions options;
    options.data_directory = data_;
    Result<std::unique_ptr<Engine>> engine = Engine::create(context, options);
    if (!engine) GTEST_SKIP() << engine.error().what;
    spawn(context.get_executor(), [&]() -> Task<void> {
      const Result<void> started = co_await (*engine)->start();
      EXPECT_TRUE(started);
      if (started) co_await story(**engine);
      co_await (*engine)->stop();
    });
    context.run();
  }

  static EnvironmentRequest request_for(Engine& engine, const std::string& requirement) {
    EnvironmentRequest request;
    request.image = engine.templates().find("base").value();
    request.interpreter = "/usr/bin/python3";
    request.requirements = {requirement};
    request.index.variables["PIP_INDEX_URL"] = "file:///nowhere";
    return request;
  }

  ScratchDirectory own_directory_;
  const std::string& data_ = own_directory_.path();
};

struct Heard {
  Result<Environment> result = fail(Code::kInternal, "not called");
  std::vector<BuildProgress> progress;
};

Task<void> ask(Engine& engine, EnvironmentRequest request, std::shared_ptr<Heard> heard,
               std::shared_ptr<asio::steady_timer> done) {
  const Progress listen = [heard](const BuildProgress& news) { heard->progress.push_back(news); };
  heard->result = co_await engine.environments().ensure(std::move(request), listen, Force::kNo);
  done->cancel_one();
}

TEST_F(EnvironmentsTest, NoRequirementsNeedNoEnvironment) {
  tell([](Engine& engine) -> Task<void> {
    const auto none = co_await engine.environments().ensure(EnvironmentRequest(), {}, Force::kNo);
    EXPECT_TRUE(none && none->path.empty());
    EXPECT_EQ(engine.environments().builds_started(), 0u);
  });
}

TEST_F(EnvironmentsTest, TwoWhoAskAtOnceShareOneBuildItsProgressAndItsFailure) {
  tell([](Engine& engine) -> Task<void> {
    const auto first = std::make_shared<Heard>(), second = std::make_shared<Heard>();
    const auto done = std::make_shared<asio::steady_timer>(engine.host().executor, std::chrono::seconds(50));
    asio::co_spawn(engine.host().executor, ask(engine, request_for(engine, "Absent"), first, done), asio::detached);
    asio::co_spawn(engine.host().executor, ask(engine, request_for(engine, "absent"), second, done), asio::detached);
    while (first->result.error().code == Code::kInternal || second->result.error().code == Code::kInternal) {
      const auto [error] = co_await done->async_wait(kNoThrow);
      if (!error) break;  // the time is over
    }
    EXPECT_EQ(engine.environments().builds_started(), 1u);
    for (const auto& heard : {first, second}) {
      EXPECT_EQ(heard->result.error().code, Code::kUnavailable);
      EXPECT_NE(heard->result.error().what.find("absent"), std::string::npos) << heard->result.error().what;
      EXPECT_FALSE(heard->progress.empty());
    }
    const auto again = co_await engine.environments().ensure(request_for(engine, "absent"), {}, Force::kNo);
    EXPECT_FALSE(again);
    EXPECT_EQ(engine.environments().builds_started(), 1u);  // the failure is remembered for a moment
    const auto listed = co_await engine.environments().list();
    EXPECT_TRUE(listed && listed->empty());
  });
}

TEST_F(EnvironmentsTest, AnEngineThatStopsEndsItsBuilds) {
  tell([](Engine& engine) -> Task<void> {
    const auto heard = std::make_shared<Heard>();
    const auto done = std::make_shared<asio::steady_timer>(engine.host().executor, std::chrono::seconds(50));
    asio::co_spawn(engine.host().executor, ask(engine, request_for(engine, "absent"), heard, done), asio::detached);
    co_return;  // and stop() must not wait for pip
  });
  const Fd root = open_path(data_ + "/environments", O_RDONLY | O_DIRECTORY).value_or(Fd());
  for (const Entry& entry : list_directory(root.get()).value_or(std::vector<Entry>())) {
    EXPECT_EQ(entry.name, ".locks");
  }
}

TEST(InstallFailureTest, NamesWhoAskedForWhat) {
  const std::string text =
      install_failure(Language::kPython, {"a", "b"}, {"c"}, {Code::kUnavailable, "ERROR: no c", 0});
  EXPECT_TRUE(text.starts_with(
      "Failed to install pip packages (sandbox requirements: a, b; tool requirements: c). This may be due to "))
      << text;
  EXPECT_TRUE(text.ends_with(": ERROR: no c")) << text;
}

}  // namespace
}  // namespace bj
