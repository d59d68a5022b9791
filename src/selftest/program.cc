#include "selftest/program.h"

#include <unistd.h>

namespace bj::selftest {
namespace {

using Stream = asio::posix::stream_descriptor;

// Shared by the timers, the readers and the main line, all on one thread.
struct Watch {
  std::shared_ptr<Sandbox> sandbox;
  Stream output, error;
  asio::steady_timer wall, cpu;
  Captured out, err;
  std::string stopped_by;
  bool finished = false;

  Watch(const asio::any_io_executor& executor, std::shared_ptr<Sandbox> box, Process& process)
      : sandbox(std::move(box)),
        output(executor, process.output.release()),
        error(executor, process.error.release()),
        wall(executor),
        cpu(executor) {
    boost::system::error_code ignored;
    output.native_non_blocking(true, ignored);
    error.native_non_blocking(true, ignored);
  }

  void stop(const char* limit) {
    if (finished || !stopped_by.empty()) return;
    stopped_by = limit;
    sandbox->kill();
  }
};

void pump(const std::shared_ptr<Watch>& watch, Stream& stream, Captured& into) {
  stream.async_wait(Stream::wait_read, [watch, &stream, &into](const boost::system::error_code& error) {
    if (error || watch->finished) return;
    if (capture_available(stream.native_handle(), watch->sandbox->limits().output_bytes, into))
      pump(watch, stream, into);
  });
}

void watch_wall(const std::shared_ptr<Watch>& watch) {
  if (watch->sandbox->limits().wall_ms == 0) return;
  watch->wall.expires_after(std::chrono::milliseconds(watch->sandbox->limits().wall_ms));
  watch->wall.async_wait([watch](const boost::system::error_code& error) {
    if (!error) watch->stop("wall time");
  });
}

// Processor time is counted by the group; the next look is when the limit could be reached at the earliest.
void watch_cpu(const std::shared_ptr<Watch>& watch) {
  const Limits& limits = watch->sandbox->limits();
  if (limits.cpu_ms == 0) return;
  const uint64_t used_ms = watch->sandbox->usage().cpu_ns / 1'000'000;
  if (used_ms >= limits.cpu_ms) return watch->stop("cpu");
  const double cpus = limits.cpus > 0 ? limits.cpus : 64;
  const auto earliest = static_cast<uint64_t>(static_cast<double>(limits.cpu_ms - used_ms) / cpus);
  watch->cpu.expires_after(std::chrono::milliseconds(std::max<uint64_t>(earliest, 5)));
  watch->cpu.async_wait([watch](const boost::system::error_code& error) {
    if (!error && !watch->finished) watch_cpu(watch);
  });
}

ProgramEnd take_end(Watch& watch) {
  const uint64_t limit = watch.sandbox->limits().output_bytes;
  capture_available(watch.output.native_handle(), limit, watch.out);
  capture_available(watch.error.native_handle(), limit, watch.err);
  ProgramEnd end;
  end.output = std::move(watch.out.text);
  end.error_output = std::move(watch.err.text);
  end.dropped = watch.out.dropped + watch.err.dropped;
  const CgroupUsage used = watch.sandbox->usage();
  if (!watch.stopped_by.empty()) end.limits_hit.push_back(watch.stopped_by);
  if (used.memory_kills > 0) end.limits_hit.emplace_back("memory");
  if (used.forks_refused > 0) end.limits_hit.emplace_back("processes");
  if (end.dropped > 0) end.limits_hit.emplace_back("output");
  return end;
}

}  // namespace

Task<Result<ProgramEnd>> run_program(std::shared_ptr<Sandbox> sandbox, ProcessSpec spec) {
  const auto started = Clock::now();
  BJ_CO_TRY(Process process, co_await sandbox->start(std::move(spec)));
  process.input.reset();
  auto watch = std::make_shared<Watch>(co_await asio::this_coro::executor, sandbox, process);
  watch_wall(watch);
  watch_cpu(watch);
  pump(watch, watch->output, watch->out);
  pump(watch, watch->error, watch->err);
  const Result<ExitReport> report = co_await process.exit->get();
  watch->finished = true;
  watch->wall.cancel();
  watch->cpu.cancel();
  ProgramEnd end = take_end(*watch);
  watch->output.close();
  watch->error.close();
  if (report) end.status = report->status;
  end.duration_ms = std::chrono::duration<double, std::milli>(Clock::now() - started).count();
  co_return end;
}

}  // namespace bj::selftest
