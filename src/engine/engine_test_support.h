// Stories that are told on an engine of their own, with a data directory that goes with the test. Where this machine
// has no sandboxes they are skipped, with the reason.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>

#include "engine/engine.h"
#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {

class EngineStory : public testing::Test {
 protected:
  // What the story returns must be without error.
  void tell(EngineOptions options, const std::function<Task<Result<void>>(Engine&)>& story) {
    asio::io_context context(1);
    options.data_directory = data_;
    Result<std::unique_ptr<Engine>> engine = Engine::create(context, std::move(options));
    if (!engine) GTEST_SKIP() << engine.error().what;
    Result<void> result;
    spawn(context.get_executor(), [&]() -> Task<void> {
      result = co_await (*engine)->start();
      if (result) result = co_await story(**engine);
      co_await (*engine)->stop();
    });
    context.run();
    EXPECT_TRUE(result) << result.error().what;
  }

  static Task<Result<std::shared_ptr<Sandbox>>> sandbox_of(Engine& engine) {
    SandboxSpec spec;
    BJ_CO_TRY(spec.image, engine.templates().find("base"));
    co_return co_await engine.create_sandbox(std::move(spec));
  }

  static ProcessSpec shell(const std::string& script) {
    ProcessSpec spec;
    spec.arguments = {"/bin/sh", "-c", script};
    return spec;
  }

  // Of a shell, to its end.
  static Task<Result<std::string>> output(Sandbox& sandbox, std::string script, std::string user = "") {
    ProcessSpec spec = shell(script);
    spec.user = std::move(user);
    BJ_CO_TRY(Process process, co_await sandbox.start(std::move(spec)));
    asio::posix::stream_descriptor stream(co_await asio::this_coro::executor, process.output.release());
    Captured captured;
    co_await capture(stream, 1 << 20, captured);
    (void)co_await process.exit->get();
    co_return captured.text;
  }

  ScratchDirectory own_directory_;
  const std::string& data_ = own_directory_.path();
};

}  // namespace bj
