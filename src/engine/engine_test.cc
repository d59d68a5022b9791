// The engine as a library, on this machine's kernel.
#include "engine/engine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "engine/engine_test_support.h"
#include "sys/pipe.h"

namespace bj {
namespace {

constexpr const char* kAdd = "def add(a: int, b: int) -> int:\n    return a + b\n";

class EngineTest : public EngineStory {
 protected:
  void tell(PoolOptions pool, const std::function<Task<Result<void>>(Engine&)>& story) {
    EngineOptions options;
    options.python_pool = pool;
    EngineStory::tell(std::move(options), story);
  }

  static Result<CallSpec> call_of(Engine& engine, const std::string& source) {
    CallSpec spec;
    BJ_TRY(spec.environment.image, engine.templates().find("base"));
    spec.environment.interpreter = "/usr/bin/python3";
    spec.source = source;
    return spec;
  }
};

TEST_F(EngineTest, TwoHundredCallsAtOnceAllSucceed) {
  tell({.least = 4, .most = 16, .warm = 4}, [](Engine& engine) -> Task<Result<void>> {
    constexpr int kCalls = 200;
    BJ_CO_TRY(CallSpec spec, call_of(engine, kAdd));
    spec.limits.open_files = 128;  // fewer than the zygote has of its children
    auto left = std::make_shared<int>(kCalls);
    auto good = std::make_shared<int>(0);
    auto done = std::make_shared<OneShot<int>>(engine.host().executor);
    for (int i = 0; i < kCalls; ++i) {
      spec.arguments = {{"a", i}, {"b", 1}};
      spawn(engine.host().executor, [&engine, spec, i, left, good, done]() -> Task<void> {
        const Result<CallResult> result = co_await engine.call(spec);
        if (result && result->status == CallStatus::kOk && result->value == i + 1) ++*good;
        if (--*left == 0) done->set(0);
      });
    }
    BJ_CO_CHECK(co_await done->get());
    EXPECT_EQ(*good, kCalls);
    co_return Result<void>();
  });
}

TEST_F(EngineTest, AModuleThatToolsAlwaysImportIsPreloadedAfterAWhile) {
  tell({.least = 2, .most = 2, .warm = 1}, [](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(const CallSpec spec, call_of(engine, "import decimal\ndef tool():\n    return 1\n"));
    bool learned = false;
    for (int i = 0; i < 12 && !learned; ++i) {
      BJ_CO_TRY(const CallResult result, co_await engine.call(spec));
      EXPECT_EQ(result.status, CallStatus::kOk);
      learned = result.imports.empty();
      co_await engine.settle(spec);
    }
    EXPECT_TRUE(learned);
    co_return Result<void>();
  });
}

TEST_F(EngineTest, AToolThatKillsEverythingItCanHurtsItsOwnCallOnly) {
  tell({.least = 4, .most = 4, .warm = 2}, [](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(CallSpec spec, call_of(engine, "import os\ndef tool():\n    os._exit(3)\n"));
    BJ_CO_TRY(const CallResult dead, co_await engine.call(spec));
    EXPECT_EQ(dead.status, CallStatus::kError);
    EXPECT_EQ(dead.error.name, "NoAnswer");
    spec.source = kAdd;
    spec.arguments = {{"a", 1}, {"b", 2}};
    BJ_CO_TRY(const CallResult alive, co_await engine.call(spec));
    EXPECT_EQ(alive.value, 3);
    co_return Result<void>();
  });
}

TEST_F(EngineTest, AProcessHasStreamsAndAnExitStatusWithItsCost) {
  tell({.least = 0, .most = 0, .warm = 0}, [](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(const auto sandbox, co_await sandbox_of(engine));
    BJ_CO_TRY(Process process, co_await sandbox->start(shell("read line; echo got $line; echo bad >&2; exit 4")));
    BJ_CO_CHECK(write_all(process.input.get(), "this\n", "stdin"));
    asio::posix::stream_descriptor output(engine.host().executor, process.output.release());
    asio::posix::stream_descriptor error(engine.host().executor, process.error.release());
    Captured out, err;
    co_await capture(output, 100, out);
    co_await capture(error, 100, err);
    BJ_CO_TRY(const ExitReport exit, co_await process.exit->get());
    EXPECT_EQ(out.text, "got this\n");
    EXPECT_EQ(err.text, "bad\n");
    EXPECT_EQ(WEXITSTATUS(exit.status), 4);
    EXPECT_GT(exit.max_rss_kb, 0u);
    co_await sandbox->destroy();
    co_return Result<void>();
  });
}

TEST_F(EngineTest, ASignalReachesTheWholeProcessGroup) {
  tell({.least = 0, .most = 0, .warm = 0}, [](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(const auto sandbox, co_await sandbox_of(engine));
    BJ_CO_TRY(const Process process, co_await sandbox->start(shell("sleep 1000 & wait")));
    BJ_CO_CHECK(co_await sandbox->signal_group(process.pid, SIGTERM));
    BJ_CO_TRY(const ExitReport exit, co_await process.exit->get());
    EXPECT_TRUE(WIFSIGNALED(exit.status));
    co_await sandbox->destroy();
    co_return Result<void>();
  });
}

TEST_F(EngineTest, FilesGoInAndOutWhole) {
  tell({.least = 0, .most = 0, .warm = 0}, [this](Engine& engine) -> Task<Result<void>> {
    const std::string large(5'000'000, 'x');
    BJ_CO_CHECK(write_file_atomically(data_ + "/in", large, 0600));
    BJ_CO_TRY(const auto sandbox, co_await sandbox_of(engine));
    BJ_CO_TRY(Fd from, open_path(data_ + "/in", O_RDONLY));
    BJ_CO_TRY(const uint64_t copied, co_await sandbox->copy_in(std::move(from), "/home/user/file", 0644));
    EXPECT_EQ(copied, large.size());
    BJ_CO_TRY(Fd to, open_path(data_ + "/out", O_WRONLY | O_CREAT, 0600));
    BJ_CO_CHECK(co_await sandbox->copy_out("/home/user/file", std::move(to)));
    BJ_CO_TRY(const std::string back, read_file(data_ + "/out"));
    EXPECT_TRUE(back == large);
    co_await sandbox->destroy();
    co_return Result<void>();
  });
}

TEST_F(EngineTest, FilesAreMadeMovedWatchedAndRemovedAsTheGivenUser) {
  tell({.least = 0, .most = 0, .warm = 0}, [](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(const auto sandbox, co_await sandbox_of(engine));
    const Account user = sandbox->account();
    WardenClient& warden = sandbox->warden();
    BJ_CO_CHECK(co_await warden.make_directory("/home/user/a", 0755, user.uid, user.gid));
    BJ_CO_TRY(const Fd watch, co_await warden.watch("/home/user/a", IN_CREATE, user.uid, user.gid));
    BJ_CO_CHECK(co_await sandbox->write_file("/home/user/a/f", "1", 0644));
    char event[512];
    EXPECT_GT(::read(watch.get(), event, sizeof event), 0);
    BJ_CO_CHECK(co_await warden.rename("/home/user/a/f", "/home/user/a/g", user.uid, user.gid));
    BJ_CO_CHECK(co_await warden.remove("/home/user/a/g", FileType::kRegular, user.uid, user.gid));
    BJ_CO_CHECK(co_await warden.remove("/home/user/a", FileType::kDirectory, user.uid, user.gid));
    EXPECT_FALSE(co_await warden.make_directory("/etc/mine", 0755, user.uid, user.gid));
    EXPECT_FALSE(co_await warden.open("/proc/self/mem", O_RDWR, 0, 0, 0, FileType::kRegular));
    co_await sandbox->destroy();
    co_return Result<void>();
  });
}

TEST_F(EngineTest, APortInsideIsReachedThroughTheWarden) {
  tell({.least = 0, .most = 0, .warm = 0}, [](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(const auto sandbox, co_await sandbox_of(engine));
    EXPECT_FALSE(co_await sandbox->warden().connect(8080));
    ProcessSpec server;
    server.arguments = {"/usr/bin/python3", "-c",
                        "import socket\ns = socket.create_server(('127.0.0.1', 8080))\nprint('up', flush=True)\n"
                        "s.accept()[0].sendall(b'hi')"};
    BJ_CO_TRY(Process process, co_await sandbox->start(std::move(server)));
    char buffer[8] = {};
    EXPECT_EQ(::read(process.output.get(), buffer, sizeof buffer), 3);
    BJ_CO_TRY(Fd socket, co_await sandbox->warden().connect(8080));
    asio::posix::stream_descriptor stream(engine.host().executor, socket.release());
    Captured text;
    co_await capture(stream, 100, text);
    EXPECT_EQ(text.text, "hi");
    co_await sandbox->destroy();
    co_return Result<void>();
  });
}

// Once, what it had was given back while its processes still died: their user ids to the next sandbox, say.
TEST_F(EngineTest, WhoIsToldToGiveUpWhileASandboxEndsWaitsForItsEndAllTheSame) {
  tell({.least = 0, .most = 0, .warm = 0}, [](Engine& engine) -> Task<Result<void>> {
    const asio::any_io_executor executor = engine.host().executor;
    BJ_CO_TRY(const auto sandbox, co_await sandbox_of(engine));
    BJ_CO_TRY(const Process process, co_await sandbox->start(shell("for i in 1 2 3 4; do sleep 1000 & done; wait")));
    asio::cancellation_signal give_up;
    const auto over = std::make_shared<OneShot<int>>(executor);
    const auto destroy = [sandbox]() -> Task<void> {
      co_await asio::this_coro::throw_if_cancelled(false);
      co_await sandbox->destroy();
    };
    asio::co_spawn(executor, destroy,
                   asio::bind_cancellation_slot(give_up.slot(), [over](const std::exception_ptr&) { over->set(0); }));
    for (int i = 0; i < 4; ++i) co_await asio::post(executor, asio::use_awaitable);  // until it waits
    give_up.emit(asio::cancellation_type::terminal);
    BJ_CO_CHECK(co_await over->get());
    EXPECT_EQ(engine.host().cgroups->abandoned(), 0u);
    co_return Result<void>();
  });
}

TEST_F(EngineTest, AnExpiredSandboxEndsByItself) {
  tell({.least = 0, .most = 0, .warm = 0}, [](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(const auto sandbox, co_await sandbox_of(engine));
    BJ_CO_TRY(const Process process, co_await sandbox->start(shell("sleep 1000")));
    sandbox->expire_at(Clock::now());
    co_await sandbox->ended();
    EXPECT_FALSE(co_await process.exit->get());
    EXPECT_FALSE(co_await sandbox->start(shell("true")));
    co_await sandbox->destroy();
    co_return Result<void>();
  });
}

}  // namespace
}  // namespace bj
