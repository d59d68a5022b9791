#include "engine/interpreters/interpreter_zygote.h"

#include <sys/socket.h>

#include <boost/json/serialize.hpp>
#include <csignal>

#include "base/within.h"
#include "engine/packets.h"
#include "sys/socket.h"

namespace bj {
namespace {

constexpr auto kStartTime = std::chrono::seconds(30);
constexpr size_t kMaxPacket = 64;
constexpr auto kBeforeSpare = std::chrono::milliseconds(20);
constexpr size_t kForksBeforeSpare = 2;  // who has one context has no use for another process

}  // namespace

InterpreterZygote::~InterpreterZygote() {
  if (control_) control_->close();
  if (spare_) spare_->close();  // it ends when nobody holds the other end
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
  BJ_CO_TRY(auto control, guarded_socket_pair(SOCK_SEQPACKET));
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
  if (!co_await get_within(ready, kStartTime)) {
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

Result<std::shared_ptr<ContextProcess>> InterpreterZygote::ask_for(const boost::json::object& request) {
  BJ_TRY(ContextPipes pipes, ContextPipes::make());
  if (!control_) return fail(Code::kUnavailable, "the interpreter has ended");
  BJ_CHECK(
      control_->send(boost::json::serialize(request), {pipes.channel.get(), pipes.output.get(), pipes.error.get()}));
  return ContextProcess::adopt(executor_, std::move(pipes.ours));
}

Task<Result<std::shared_ptr<ContextProcess>>> InterpreterZygote::fork(const std::string& directory) {
  if (++forks_ >= kForksBeforeSpare) prepare_spare_soon();
  if (const std::shared_ptr<ContextProcess> spare = take_spare()) {
    spare->set_reading(ContextProcess::Reading::kOn);
    spare->write(encode_context_message({{"op", "enter"}, {"cwd", directory}}));
    co_return spare;
  }
  BJ_CO_CHECK(co_await ensure());
  auto forked = ask_for({{"cwd", directory}});
  if (!forked) forget();
  co_return forked;
}

// None if it has died meanwhile.
std::shared_ptr<ContextProcess> InterpreterZygote::take_spare() {
  std::shared_ptr<ContextProcess> spare = std::exchange(spare_, nullptr);
  return spare && !spare->over() ? spare : nullptr;
}

// Not at once: whoever has just got one uses it now.
void InterpreterZygote::prepare_spare_soon() {
  if (std::exchange(preparing_, true)) return;
  spawn(executor_, [weak = weak_from_this(), executor = executor_]() -> Task<void> {
    asio::steady_timer pause(executor, kBeforeSpare);
    (void)co_await expired(pause);
    if (const auto self = weak.lock()) co_await self->prepare_spare();
  });
}

Task<void> InterpreterZygote::prepare_spare() {
  const auto self = shared_from_this();
  if (control_ && !spare_) {
    const auto forked = ask_for({{"ahead", true}});
    const Result<ContextMessage> first = forked ? co_await (*forked)->message_within(kStartTime)
                                                : Result<ContextMessage>(tl::unexpected(forked.error()));
    const bool ready = first && first->op == ContextOp::kReady;
    if (ready) {
      (*forked)->set_pid(first->pid);
      (*forked)->set_reading(ContextProcess::Reading::kOff);
      spare_ = *forked;
    } else if (forked) {
      (*forked)->close();
    }
  }
  preparing_ = false;
}

}  // namespace bj
