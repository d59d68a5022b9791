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

// From now on no network namespace can be made, as where there are too many.
constexpr const char* kNoNetworks = R"(
import ctypes, struct

def instruction(code, yes, no, value):
    return struct.pack("HBBI", code, yes, no, value)

UNSHARE, NEW_NET, ALLOWED, NO_ROOM = 272, 0x40000000, 0x7FFF0000, 0x00050000 | 28
code = b"".join((instruction(0x20, 0, 0, 0), instruction(0x15, 0, 3, UNSHARE), instruction(0x20, 0, 0, 16),
                 instruction(0x15, 0, 1, NEW_NET), instruction(0x06, 0, 0, NO_ROOM), instruction(0x06, 0, 0, ALLOWED)))
program = ctypes.create_string_buffer(code)
description = struct.pack("H6xQ", len(code) // 8, ctypes.addressof(program))
assert ctypes.CDLL(None).syscall(317, 1, 0, description) == 0
)";

bool runs_somewhere(std::string_view command) {
  const Result<Fd> proc = open_path("/proc", O_RDONLY | O_DIRECTORY);
  const auto entries = proc ? list_directory(proc->get()) : Result<std::vector<Entry>>(tl::unexpected(proc.error()));
  return entries && std::any_of(entries->begin(), entries->end(), [&](const Entry& entry) {
           return read_file("/proc/" + entry.name + "/cmdline").value_or("") == command;
         });
}

class ZygoteTest : public EngineStory {
 protected:
  // A call of an environment whose zygote imports this ahead.
  Result<CallSpec> call_after(Engine& engine, const char* module) {
    BJ_CHECK(write_file_atomically(packages_.path() + "/module.py", module, 0644));
    if (::chmod(packages_.path().c_str(), 0755) != 0) return fail_errno("chmod");
    CallSpec call;
    BJ_TRY(call.environment.image, engine.templates().find("base"));
    call.environment.host_packages = packages_.path();
    call.environment.site_dirs = {kPackagesInside};
    call.environment.preload = {"module"};
    call.source = "def tool(): return 1\n";
    return call;
  }

 private:
  ScratchDirectory packages_;
};

// It went on, and the call had the network of the one before: its ports, its abstract sockets.
TEST_F(ZygoteTest, ACallThatCantHaveANetworkOfItsOwnIsNotMade) {
  tell({}, [this](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(CallSpec call, call_after(engine, kNoNetworks));
    BJ_CO_TRY(const CallResult result, co_await engine.call(std::move(call)));
    EXPECT_EQ(result.status, CallStatus::kError);
    co_return Result<void>();
  });
}

TEST_F(ZygoteTest, WhatOutlivesACallBecauseItsZygoteLiedEndsWithTheZygote) {
  static constexpr std::string_view kLeft("sleep\0007654326\0", 14);
  tell({}, [this](Engine& engine) -> Task<Result<void>> {
    if (engine.host().cgroups->root().hierarchies().empty()) co_return Result<void>();
    BJ_CO_TRY(CallSpec call, call_after(engine, kLiar));
    call.limits.wall_ms = 500;
    BJ_CO_TRY(const CallResult result, co_await engine.call(std::move(call)));
    EXPECT_EQ(result.status, CallStatus::kTimeout) << result.error.message;
    const auto late = Clock::now() + std::chrono::seconds(10);
    asio::steady_timer moment(co_await asio::this_coro::executor);
    while (runs_somewhere(kLeft) && Clock::now() < late) {
      moment.expires_after(std::chrono::milliseconds(20));
      (void)co_await expired(moment);
    }
    EXPECT_FALSE(runs_somewhere(kLeft));
    co_return Result<void>();
  });
}

}  // namespace
}  // namespace bj
