#include "engine/interpreter_zygote.h"

#include <sys/socket.h>

#include <boost/json/serialize.hpp>
#include <csignal>

#include "engine/packets.h"
#include "sys/socket.h"

namespace bj {
namespace {

constexpr auto kStartTime = std::chrono::seconds(30);
constexpr size_t kMaxPacket = 64;

}  // namespace

InterpreterZygote::~InterpreterZygote() {
  if (control_) control_->close();
}

void InterpreterZygote::forget() {
  if (!control_) return;
  std::exchange(control_, nullptr)->close();
  if (pid_ <= 1) return;
  spawn(executor_, [sandbox = sandbox_, pid = std::exchange(pid_, 0)]() -> Task<void> {
    (void)co_await sandbox->signal_group(pid, SIGKILL);
  });
}

Task<Result<void>> InterpreterZygote::start() {
  BJ_CO_TRY(auto control, socket_pair(SOCK_SEQPACKET));
  ProcessSpec spec;
  spec.arguments = {"python3", "/opt/belljar/python/interpreter.py", "3"};
  spec.extra_descriptors = {control.second.get()};
  Result<Process> started = co_await sandbox_->start(std::move(spec));
  control.second.reset();
  if (!started && started.error().code == Code::kNotFound) {
    co_return fail(Code::kUnavailable, "the template has no python3: Python contexts need Python 3.9 or newer in it");
  }
  if (!started) co_return tl::unexpected(started.error());
  pid_ = started->pid;
  auto ready = std::make_shared<OneShot<bool>>(executor_);
  auto socket = std::make_shared<PacketSocket>(executor_, std::move(control.first), kMaxPacket);
  socket->start([ready](std::string_view, const std::vector<Fd>&) { ready->set(true); },
                [ready, this, raw = socket.get()] {
                  ready->close();
                  if (control_.get() == raw) control_.reset();
                });
  control_ = socket;
  asio::steady_timer deadline(executor_, kStartTime);
  deadline.async_wait([ready](const boost::system::error_code& error) {
    if (!error) ready->close();
  });
  if (!co_await ready->get()) {
    Captured said;
    if (started->error.ok()) (void)capture_available(started->error.get(), 300, said);
    forget();
    co_return fail(Code::kUnavailable,
                   "the template's python3 did not start: Python contexts need Python 3.9 or newer" +
                       (said.text.empty() ? "" : " (" + said.text + ")"));
  }
  co_return Result<void>();
}

Task<Result<void>> InterpreterZygote::ensure() {
  while (starting_) {
    const auto other = starting_;
    (void)co_await other->get();
    other->set(true);  // for the next who waits
  }
  if (control_) co_return Result<void>();
  starting_ = std::make_shared<OneShot<bool>>(executor_);
  const Result<void> started = co_await start();
  std::exchange(starting_, nullptr)->set(true);
  co_return started;
}

Task<Result<std::shared_ptr<ContextProcess>>> InterpreterZygote::fork(const std::string& directory) {
  BJ_CO_CHECK(co_await ensure());
  BJ_CO_TRY(ContextPipes pipes, ContextPipes::make());
  const std::string request = boost::json::serialize(boost::json::object{{"cwd", directory}});
  const Result<void> sent = control_
                                ? control_->send(request, {pipes.channel.get(), pipes.output.get(), pipes.error.get()})
                                : Result<void>(fail(Code::kUnavailable, "the interpreter has ended"));
  if (!sent) {
    forget();
    co_return tl::unexpected(sent.error());
  }
  co_return ContextProcess::adopt(executor_, std::move(pipes.ours));
}

}  // namespace bj
