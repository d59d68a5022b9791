#include "cli/with_engine.h"

#include <termios.h>
#include <unistd.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <exception>

#include "base/log.h"
#include "cli/context.h"
#include "cli/say.h"

namespace bj {
namespace {

constexpr auto kTimeToStop = std::chrono::seconds(15);  // longer than a server gives the requests in flight

// SIGINT, SIGTERM and SIGHUP while the engine lives. The first one cancels; the second one leaves, and so does the
// time.
class Interrupts {
 public:
  explicit Interrupts(asio::io_context& context) : signals_(context, SIGINT, SIGTERM, SIGHUP), deadline_(context) {
    terminal_known_ = ::tcgetattr(STDIN_FILENO, &terminal_) == 0;
    wait();
  }

  asio::cancellation_slot slot() { return cancellation_.slot(); }
  int received() const { return received_; }
  void cancel() {
    signals_.cancel();
    deadline_.cancel();
  }

 private:
  void wait() {
    signals_.async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      if (received_ != 0) leave(signal);
      received_ = signal;
      wait();
      deadline_.expires_after(kTimeToStop);
      deadline_.async_wait([this, signal](const boost::system::error_code& early) {
        if (!early) leave(signal);
      });
      cancellation_.emit(asio::cancellation_type::terminal);
    });
  }

  // Wardens and the launcher end when this process's sockets close. The terminal is left as it was found.
  [[noreturn]] void leave(int signal) {
    if (terminal_known_) ::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_);
    ::_exit(128 + signal);
  }

  asio::signal_set signals_;
  asio::steady_timer deadline_;
  asio::cancellation_signal cancellation_;
  termios terminal_{};
  bool terminal_known_ = false;
  int received_ = 0;
};

Task<int> start_and_work(Engine& engine, const std::function<Task<int>(Engine&)>& work) {
  const Result<void> started = co_await engine.start();
  if (!started) {
    complain("the engine could not start: " + started.error().what);
    co_return kExitSandbox;
  }
  co_return co_await work(engine);
}

Task<int> start_work_stop(Engine& engine, const std::function<Task<int>(Engine&)>& work) {
  // A cancelled wait fails instead of throwing, so that everything on the way out can still wait for its clean-up.
  co_await asio::this_coro::throw_if_cancelled(false);
  int status = kExitSandbox;
  std::string broken;
  try {
    status = co_await start_and_work(engine, work);
  } catch (const std::exception& error) {
    broken = error.what();
  }
  if (!broken.empty()) complain("internal error: " + broken);
  co_await engine.stop();
  co_return status;
}

// What a task of its own throws ends that task, and nobody else's.
void run_to_the_end(asio::io_context& context) {
  for (bool more = true; more;) {
    try {
      context.run();
      more = false;
    } catch (const std::exception& error) {
      log_error("task_threw", {{"what", error.what()}});
    }
  }
}

}  // namespace

Task<bool> interrupted() {
  const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
  co_return state.cancelled() != asio::cancellation_type::none;
}

int status_of(const Error& error) {
  switch (error.code) {
    case Code::kInvalid:
    case Code::kUnprocessable:
    case Code::kConflict:
    case Code::kNotFound: return kExitUsage;
    default: return kExitSandbox;
  }
}

int with_engine(const Settings& settings, EngineOptions options, const std::function<Task<int>(Engine&)>& work) {
  if (options.data_directory.empty()) options.data_directory = settings.data_directory;
  asio::io_context context(1);
  const auto engine = Engine::create(context, std::move(options));
  if (!engine) {
    complain("no sandbox can be made here: " + engine.error().what + " (`belljar doctor` tells more)");
    return kExitSandbox;
  }
  ::signal(SIGPIPE, SIG_IGN);  // after the launcher was forked: what is inside sandboxes keeps the default
  Interrupts interrupts(context);
  int status = kExitSandbox;
  asio::co_spawn(context, start_work_stop(**engine, work),
                 asio::bind_cancellation_slot(interrupts.slot(), [&](const std::exception_ptr& error, int result) {
                   if (error) complain("internal error while stopping");
                   status = error ? kExitSandbox : result;
                   interrupts.cancel();
                 }));
  run_to_the_end(context);
  return interrupts.received() != 0 ? 128 + interrupts.received() : status;
}

}  // namespace bj
