#include "engine/calls/channel.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cstring>

#include "engine/test_switch.h"
#include "sys/bytes.h"

namespace bj {
namespace {

using Stream = asio::posix::stream_descriptor;
constexpr size_t kPiece = 64 * 1024;

std::unique_ptr<Stream> stream_of(const asio::any_io_executor& executor, Fd fd) {
  auto stream = std::make_unique<Stream>(executor, fd.release());
  boost::system::error_code ignored;
  stream->native_non_blocking(true, ignored);
  return stream;
}

std::string new_nonce() {
  unsigned char bytes[16];
  (void)::getrandom(bytes, sizeof bytes, 0);
  std::string text;
  for (const unsigned char b : bytes) text += fmt::format("{:02x}", b);
  return text;
}

// Reads exactly `size` bytes.
Task<Result<void>> read_exactly(Stream& stream, char* to, size_t size) {
  while (size > 0) {
    const Moved read = read_some(stream.native_handle(), to, size);
    if (read.ended() || read.sys == ECONNRESET) {  // reset: before it had read all that we sent
      co_return fail(Code::kUnavailable, "the process ended");
    }
    if (read.not_now()) {
      if (co_await cancelled() || !co_await readable(stream)) co_return fail(Code::kUnavailable, "cancelled");
    } else if (!read.ok()) {
      co_return fail_with(read.sys, "read(channel)");
    }
    to += read.size;
    size -= read.size;
  }
  co_return Result<void>();
}

// State of one conversation that the watchers and the main line share; all on one thread.
struct Watch {
  std::shared_ptr<Runner> runner;
  Limits limits;
  OutputListener listener;  // empty: nobody listens
  Captured output, error;
  std::string stopped_by;  // the limit that ended it, empty: none
  bool finished = false;
};

// Who else may have a copy of its end of the channel, a zygote's imports for one, is not waited for.
void cut_off(Runner& runner) {
  runner.kill();
  (void)::shutdown(runner.channel->native_handle(), SHUT_RDWR);
}

void stop(Watch& watch, const char* limit) {
  if (watch.finished || !watch.stopped_by.empty()) return;
  watch.stopped_by = limit;
  cut_off(*watch.runner);
}

// CPU time is counted by the group; the next look is when the limit could be reached at the earliest.
void watch_cpu(const std::shared_ptr<Watch>& watch, const std::shared_ptr<asio::steady_timer>& timer,
               uint64_t used_ms) {
  if (used_ms >= watch->limits.cpu_ms) return stop(*watch, "cpu");
  const double cpus = watch->limits.cpus > 0 ? watch->limits.cpus : 64;
  const auto earliest = static_cast<uint64_t>(static_cast<double>(watch->limits.cpu_ms - used_ms) / cpus);
  timer->expires_after(std::chrono::milliseconds(std::max<uint64_t>(earliest, 5)));
  timer->async_wait([watch, timer](const boost::system::error_code& error) {
    if (!error && !watch->finished) watch_cpu(watch, timer, watch->runner->used().cpu_ns / 1'000'000);
  });
}

// Takes what is there now and tells the listener what of it was kept. False at the end of the stream.
bool take_available(Watch& watch, Stream& stream, Captured& into) {
  const size_t told = into.text.size();
  const bool more = capture_available(stream.native_handle(), watch.limits.output_bytes, into);
  if (watch.listener && into.text.size() > told) {
    watch.listener(&into == &watch.error, std::string_view(into.text).substr(told));
  }
  return more;
}

void pump(const std::shared_ptr<Watch>& watch, Stream* stream, Captured* into) {
  stream->async_wait(Stream::wait_read, [watch, stream, into](const boost::system::error_code& error) {
    if (error || watch->finished) return;
    if (take_available(*watch, *stream, *into)) pump(watch, stream, into);
  });
}

Task<Result<std::string>> next_answer(Stream& channel, size_t limit, bool skip_ready) {
  for (;;) {
    BJ_CO_TRY(Frame frame, co_await read_frame(channel, limit));
    if (frame.type == static_cast<char>(FrameType::kAnswer)) co_return std::move(frame.payload);
    // Only before the process is ready: after that it is the tool's code that speaks.
    if (frame.type == static_cast<char>(FrameType::kSealFailed) && skip_ready) {
      co_return fail(Code::kUnavailable, "the call's process could not be sealed: " + frame.payload);
    }
    if (frame.type != static_cast<char>(FrameType::kReady) || !skip_ready) {
      co_return fail(Code::kInternal, "the tool's process broke the answer protocol: unknown frame");
    }
    skip_ready = false;
  }
}

void describe_limit(const Watch& watch, const std::string& limit, CallResult& result) {
  result.status = limit == "wall time" ? CallStatus::kTimeout : CallStatus::kLimit;
  result.limits_hit.push_back(limit);
  if (limit == "wall time") {
    result.error = {"Timeout",
                    fmt::format("the call took longer than its wall time limit of {} ms", watch.limits.wall_ms), ""};
  } else if (limit == "cpu") {
    result.error = {"CpuLimit", fmt::format("the call used more than its CPU time limit of {} ms", watch.limits.cpu_ms),
                    ""};
  }
}

// A process that ends early often said why on stderr.
std::string last_line(const std::string& text) {
  constexpr size_t kMost = 300;
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const size_t line = text.rfind('\n', end);
  return text.substr(line == std::string::npos ? 0 : line + 1,
                     std::min(kMost, end - (line == std::string::npos ? 0 : line + 1) + 1));
}

// SIGKILL is what it was buried with, if it lived until then.
std::string how_it_ended(const Runner& runner) {
  const int status = runner.exit_status().value_or(W_EXITCODE(0, 0));
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
    return fmt::format("the tool's process was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    return fmt::format("the tool's process ended with status {} and without an answer", WEXITSTATUS(status));
  }
  return "the tool's process ended without an answer";
}

// The process is gone and left no answer: find out why.
void explain_silence(const Watch& watch, const Error& error, CallResult& result) {
  const CgroupUsage used = watch.runner->used();
  // The kernel may have been first to end it, when this thread got no turn.
  const uint64_t cpu_ms = watch.limits.cpu_ms;
  if (cpu_ms != 0 && used.cpu_ns / 1'000'000 >= cpu_ms) return describe_limit(watch, "cpu", result);
  if (used.memory_kills > 0) {
    result.status = CallStatus::kLimit;
    result.limits_hit.push_back("memory");
    result.error = {"MemoryLimit",
                    fmt::format("the call used more than its memory limit of {} MiB", watch.limits.memory_bytes >> 20),
                    ""};
    return;
  }
  result.status = CallStatus::kError;
  const std::string why = last_line(result.error_output);
  result.error = {"NoAnswer",
                  error.code == Code::kUnavailable && error.what == "the process ended"
                      ? how_it_ended(*watch.runner) + (why.empty() ? "" : " (" + why + ")")
                      : error.what,
                  ""};
}

void note_soft_limits(const Watch& watch, CallResult& result) {
  const CgroupUsage used = watch.runner->used();
  const auto add = [&result](const char* limit) {
    for (const std::string& known : result.limits_hit) {
      if (known == limit) return;
    }
    result.limits_hit.emplace_back(limit);
  };
  if (used.memory_kills > 0) add("memory");
  if (used.forks_refused > 0) add("processes");
  if (result.error.name == "MemoryError") add("memory");
}

void take_output(Watch& watch, CallResult& result) {
  take_available(watch, *watch.runner->output, watch.output);
  take_available(watch, *watch.runner->error, watch.error);
  result.output = std::move(watch.output.text);
  result.error_output = std::move(watch.error.text);
  result.output_dropped = watch.output.dropped;
  result.error_output_dropped = watch.error.dropped;
  if (watch.output.dropped + watch.error.dropped > 0) result.limits_hit.emplace_back("output");
}

}  // namespace

Task<bool> cancelled() {
  const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
  co_return state.cancelled() != asio::cancellation_type::none;
}

void Runner::connect(const asio::any_io_executor& executor, Fd channel_fd, Fd output_fd, Fd error_fd) {
  channel = stream_of(executor, std::move(channel_fd));
  output = stream_of(executor, std::move(output_fd));
  error = stream_of(executor, std::move(error_fd));
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): those that have a gate keep it
Result<void> Runner::open_network(const CallSpec&, GateListener) {
  return fail(Code::kInternal, "a process without a gate was taken for a call with a network");
}

bool Runner::send(std::string_view frame) {
  return send_some(channel->native_handle(), frame, MSG_DONTWAIT).size == frame.size();
}

Task<Result<Frame>> read_frame(Stream& channel, size_t limit) {
  char head[kFrameHeader];
  BJ_CO_CHECK(co_await read_exactly(channel, head, sizeof head));
  const FrameHeader header = decode_frame_header(head);
  if (header.size > limit) {
    co_return fail(Code::kInvalid,
                   fmt::format("the tool's process sent an answer of {} bytes; the limit is {}", header.size, limit));
  }
  // Memory is taken as bytes arrive: a claimed length costs the tool nothing.
  Frame frame{header.type, {}};
  while (frame.payload.size() < header.size) {
    const size_t have = frame.payload.size();
    frame.payload.resize(have + std::min<size_t>(header.size - have, kPiece));
    BJ_CO_CHECK(co_await read_exactly(channel, frame.payload.data() + have, frame.payload.size() - have));
  }
  co_return frame;
}

Task<Result<void>> await_ready(Runner& runner, std::chrono::milliseconds patience) {
  const auto waiting = std::make_shared<bool>(true);
  asio::steady_timer deadline(runner.channel->get_executor(), patience);
  deadline.async_wait([waiting, &runner](const boost::system::error_code& error) {
    if (!error && *waiting) cut_off(runner);
  });
  const Result<Frame> ready = co_await read_frame(*runner.channel, 4096);
  *waiting = false;
  if (!ready) co_return tl::unexpected(ready.error());
  if (ready->type != static_cast<char>(FrameType::kReady)) co_return fail(Code::kUnavailable, ready->payload);
  co_return Result<void>();
}

Task<Result<void>> write_frame(Stream& channel, std::string frame) {
  std::string_view left = frame;
  while (!left.empty()) {
    const Moved sent = send_some(channel.native_handle(), left, MSG_DONTWAIT);
    if (sent.not_now()) {
      if (co_await cancelled() || !co_await writable(channel)) co_return fail(Code::kUnavailable, "cancelled");
    } else if (!sent.ok()) {
      co_return fail(Code::kUnavailable, "the process ended");
    }
    left.remove_prefix(sent.size);
  }
  co_return Result<void>();
}

Task<CallResult> converse(const asio::any_io_executor& executor, std::shared_ptr<Runner> runner, const CallSpec& spec,
                          bool skip_ready) {
  const auto started = Clock::now();
  auto watch = std::make_shared<Watch>(Watch{runner, spec.limits, spec.on_output, {}, {}, {}, false});
  CallResult result;
  result.seal = runner->seal();
  auto wall = std::make_shared<asio::steady_timer>(executor);
  auto cpu = std::make_shared<asio::steady_timer>(executor);
  if (spec.limits.wall_ms != 0) {
    wall->expires_after(std::chrono::milliseconds(spec.limits.wall_ms));
    wall->async_wait([watch, wall](const boost::system::error_code& error) {
      if (!error) stop(*watch, "wall time");
    });
  }
  if (spec.limits.cpu_ms != 0) watch_cpu(watch, cpu, 0);  // what it used to get ready is next to nothing
  pump(watch, runner->output.get(), &watch->output);
  pump(watch, runner->error.get(), &watch->error);

  const std::string nonce = new_nonce();
  Result<std::string> answer = fail(Code::kUnavailable, "the process ended");
  const Result<void> sent = co_await write_frame(*runner->channel, encode_call(spec, nonce));
  if (sent) answer = co_await next_answer(*runner->channel, answer_limit(spec), skip_ready);
  watch->finished = true;
  wall->cancel();
  cpu->cancel();
  Result<void> decoded = fail(Code::kInternal, "");
  std::string expected = nonce;  // NOLINT(performance-unnecessary-copy-initialization): a test build changes it
#ifdef BELLJAR_TEST_SWITCHES
  if (answer && spec.any_nonce) expected = nonce_in(*answer);
#endif
  if (answer && watch->stopped_by.empty()) decoded = decode_answer(*answer, expected, result, answer_kind(spec));
  result.duration_ms = std::chrono::duration<double, std::milli>(Clock::now() - started).count();
  take_output(*watch, result);
  if (!watch->stopped_by.empty()) {
    describe_limit(*watch, watch->stopped_by, result);
  } else if (!answer) {
    co_await runner->bury();  // its group's counters are final now
    explain_silence(*watch, answer.error(), result);
  } else if (!decoded) {
    result.status = CallStatus::kError;
    result.error = {"BadAnswer", decoded.error().what, ""};
  }
  if (result.status != CallStatus::kOk) note_soft_limits(*watch, result);
  co_return result;
}

}  // namespace bj
