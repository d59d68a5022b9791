#include "bench/measure.h"

#include <optional>

#include "bench/baseline.h"

namespace bj {

Task<void> pause(asio::any_io_executor executor, std::chrono::milliseconds time) {
  asio::steady_timer timer(executor, time);
  (void)co_await expired(timer);
}

Task<Result<void>> add_baseline(asio::any_io_executor executor, Sample& sample, std::vector<std::string> command,
                                int count) {
  for (int i = 0; i < count; ++i) {
    BJ_CO_TRY(const double ms, co_await spawn_and_wait(executor, command));
    sample.add(ms);
    co_await pause(executor, kPace);
  }
  co_return Result<void>();
}

Task<Result<void>> all_at_once(asio::any_io_executor executor, int count, BenchWork work) {
  auto left = std::make_shared<int>(count);
  auto done = std::make_shared<OneShot<int>>(executor);
  auto failed = std::make_shared<std::optional<Error>>();
  for (int i = 0; i < count; ++i) {
    spawn(executor, [work, left, done, failed]() -> Task<void> {
      if (Result<void> result = co_await work(); !result) *failed = result.error();
      if (--*left == 0) done->set(0);
    });
  }
  BJ_CO_CHECK(co_await done->get());
  if (*failed) co_return tl::unexpected(**failed);
  co_return Result<void>();
}

Task<Result<double>> rate(asio::any_io_executor executor, int parallel, double seconds, BenchWork work) {
  auto count = std::make_shared<int>(0);
  const Stopwatch watch;
  const BenchWork again = [count, &watch, seconds, work]() -> Task<Result<void>> {
    while (watch.ms() < seconds * 1000) {
      BJ_CO_CHECK(co_await work());
      ++*count;
    }
    co_return Result<void>();
  };
  BJ_CO_CHECK(co_await all_at_once(executor, parallel, again));
  co_return *count / (watch.ms() / 1000);
}

}  // namespace bj
