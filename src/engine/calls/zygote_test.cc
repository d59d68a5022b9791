#include "engine/calls/zygote.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "engine/engine_test_support.h"

namespace bj {
namespace {

// It takes the zygote's place, joins each call's groups with a program of its own and tells of another process.
constexpr const char* kLiar = R"(
import array, os, socket, struct, time
import belljar_zygote

def serve(control, report):
    engine = socket.socket(fileno=control)
    engine.recv(1 << 18)
    engine.send(report)
    while True:
        request, parts, _, _ = engine.recvmsg(64, socket.CMSG_SPACE(4 * 16))
        if not request:
            os._exit(0)
        number = struct.unpack("<4I", request)[0]
        files = array.array("i")
        for _, _, data in parts:
            files.frombytes(data[:len(data) - len(data) % 4])
        told = os.fork()
        if told == 0:
            time.sleep(1000)
        joined, told_so = os.pipe()
        if os.fork() == 0:
            for file in files[3:]:
                os.write(file, b"0")
            os.write(told_so, b"x")
            os.execv("/bin/sleep", ["sleep", "7654326"])
        os.read(joined, 1)
        engine.sendmsg([struct.pack("<Ii", number, 0)],
                       [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [os.pidfd_open(told)]))])

belljar_zygote.serve = serve
)";

bool runs_somewhere(const std::string& command) {
  const Result<Fd> proc = open_path("/proc", O_RDONLY | O_DIRECTORY);
  const auto entries = proc ? list_directory(proc->get()) : Result<std::vector<Entry>>(tl::unexpected(proc.error()));
  return entries && std::any_of(entries->begin(), entries->end(), [&](const Entry& entry) {
           return read_file("/proc/" + entry.name + "/cmdline").value_or("") == command;
         });
}

class ZygoteTest : public EngineStory {};

TEST_F(ZygoteTest, WhatOutlivesACallBecauseItsZygoteLiedEndsWithTheZygote) {
  const ScratchDirectory packages;
  ASSERT_TRUE(write_file_atomically(packages.path() + "/liar.py", kLiar, 0644));
  ASSERT_EQ(::chmod(packages.path().c_str(), 0755), 0);
  const std::string left(
      "sleep\0"
      "7654326\0",
      14);
  tell({}, [&](Engine& engine) -> Task<Result<void>> {
    if (engine.host().cgroups->root().hierarchies().empty()) co_return Result<void>();
    CallSpec call;
    BJ_CO_TRY(call.environment.image, engine.templates().find("base"));
    call.environment.host_packages = packages.path();
    call.environment.site_dirs = {kPackagesInside};
    call.environment.preload = {"liar"};
    call.source = "def tool(): return 1\n";
    call.limits.wall_ms = 500;
    BJ_CO_TRY(const CallResult result, co_await engine.call(call));
    EXPECT_EQ(result.status, CallStatus::kTimeout) << result.error.message;
    const auto late = Clock::now() + std::chrono::seconds(10);
    asio::steady_timer moment(co_await asio::this_coro::executor);
    while (runs_somewhere(left) && Clock::now() < late) {
      moment.expires_after(std::chrono::milliseconds(20));
      (void)co_await expired(moment);
    }
    EXPECT_FALSE(runs_somewhere(left));
    co_return Result<void>();
  });
}

}  // namespace
}  // namespace bj
