#include "selftest/program.h"

#include "engine/process_watch.h"

namespace bj::selftest {

Task<Result<ProgramEnd>> run_program(std::shared_ptr<Sandbox> sandbox, ProcessSpec spec) {
  const auto started = Clock::now();
  BJ_CO_TRY(Process process, co_await sandbox->start(std::move(spec)));
  process.input.reset();
  ProcessWatch watch(co_await asio::this_coro::executor, watched(sandbox));
  watch.collect(std::move(process.output), std::move(process.error));
  const Result<ExitReport> report = co_await process.exit->get();
  watch.finish();
  ProgramEnd end;
  if (report) end.status = report->status;
  end.output = watch.output().text;
  end.error_output = watch.error().text;
  end.dropped = watch.output().dropped + watch.error().dropped;
  end.limits_hit = watch.limits_hit();
  end.duration_ms = std::chrono::duration<double, std::milli>(Clock::now() - started).count();
  co_return end;
}

}  // namespace bj::selftest
