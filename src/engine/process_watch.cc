#include "engine/process_watch.h"

#include <algorithm>

namespace bj {
namespace {

using Stream = asio::posix::stream_descriptor;
constexpr uint64_t kSoonestLookMs = 5;
constexpr double kManyCpus = 64;  // where the share of the machine is not limited

}  // namespace

struct ProcessWatch::State : std::enable_shared_from_this<State> {
  struct Source {
    explicit Source(const asio::any_io_executor& executor) : stream(executor) {}
    Stream stream;
    Captured captured;
  };

  State(const asio::any_io_executor& executor, Watched what)
      : subject(std::move(what)), wall(executor), cpu(executor), output(executor), error(executor) {}

  void stop(const char* limit) {
    if (finished || !stopped_by.empty()) return;
    stopped_by = limit;
    subject.kill();
  }

  void watch_wall() {
    if (subject.limits.wall_ms == 0) return;
    wall.expires_after(std::chrono::milliseconds(subject.limits.wall_ms));
    wall.async_wait([self = shared_from_this()](const boost::system::error_code& failed) {
      if (!failed) self->stop("wall time");
    });
  }

  // CPU time is counted by the group; the next look is when the limit could be reached at the earliest.
  void watch_cpu() {
    const Limits& limits = subject.limits;
    if (limits.cpu_ms == 0) return;
    const uint64_t used_ms = subject.used().cpu_ns / 1'000'000;
    if (used_ms >= limits.cpu_ms) return stop("cpu");
    const double cpus = limits.cpus > 0 ? limits.cpus : kManyCpus;
    const auto earliest = static_cast<uint64_t>(static_cast<double>(limits.cpu_ms - used_ms) / cpus);
    cpu.expires_after(std::chrono::milliseconds(std::max(earliest, kSoonestLookMs)));
    cpu.async_wait([self = shared_from_this()](const boost::system::error_code& failed) {
      if (!failed && !self->finished) self->watch_cpu();
    });
  }

  void collect(Source& source, Fd fd) {
    boost::system::error_code ignored;
    source.stream.assign(fd.release(), ignored);
    source.stream.native_non_blocking(true, ignored);
    pump(source);
  }

  void pump(Source& source) {
    source.stream.async_wait(Stream::wait_read,
                             [self = shared_from_this(), &source](const boost::system::error_code& failed) {
                               if (!failed && !self->finished && self->take(source)) self->pump(source);
                             });
  }

  bool take(Source& source) const {
    return capture_available(source.stream.native_handle(), subject.limits.output_bytes, source.captured);
  }

  void finish() {
    if (finished) return;
    finished = true;
    wall.cancel();
    cpu.cancel();
    for (Source* source : {&output, &error}) {
      if (!source->stream.is_open()) continue;
      take(*source);
      source->stream.close();
    }
  }

  Watched subject;
  asio::steady_timer wall, cpu;
  Source output, error;
  std::string stopped_by;
  bool finished = false;
};

Watched watched(const std::shared_ptr<Sandbox>& sandbox) {
  return {sandbox->limits(), [sandbox] { sandbox->kill(); }, [sandbox] { return sandbox->usage(); }};
}

ProcessWatch::ProcessWatch(const asio::any_io_executor& executor, Watched subject)
    : state_(std::make_shared<State>(executor, std::move(subject))) {
  state_->watch_wall();
  state_->watch_cpu();
}

ProcessWatch::~ProcessWatch() { state_->finish(); }

void ProcessWatch::collect(Fd output, Fd error) {
  state_->collect(state_->output, std::move(output));
  state_->collect(state_->error, std::move(error));
}

void ProcessWatch::finish() { state_->finish(); }

const std::string& ProcessWatch::stopped_by() const { return state_->stopped_by; }
const Captured& ProcessWatch::output() const { return state_->output.captured; }
const Captured& ProcessWatch::error() const { return state_->error.captured; }

std::vector<std::string> ProcessWatch::limits_hit() const {
  std::vector<std::string> limits;
  if (!stopped_by().empty()) limits.push_back(stopped_by());
  const CgroupUsage used = state_->subject.used();
  const Limits& set = state_->subject.limits;
  // The kernel may have been first, when this thread got no turn.
  if (stopped_by().empty() && set.cpu_ms != 0 && used.cpu_ns / 1'000'000 >= set.cpu_ms) limits.emplace_back("cpu");
  if (used.memory_kills > 0) limits.emplace_back("memory");
  if (used.forks_refused > 0) limits.emplace_back("processes");
  if (output().dropped + error().dropped > 0) limits.emplace_back("output");
  return limits;
}

}  // namespace bj
