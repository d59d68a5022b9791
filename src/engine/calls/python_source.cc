#include "engine/calls/python_source.h"

#include <utility>

namespace bj {
namespace {

constexpr auto kSealTime = std::chrono::seconds(30);
constexpr auto kWarmUpTime = std::chrono::seconds(10);

}  // namespace

Task<Result<std::shared_ptr<Zygote>>> start_zygote(Host& host, const EnvironmentSpec& environment, const Limits& limits,
                                                   LearnedImports& imports, RunnerNetwork network) {
  const std::vector<std::string> learned = imports.with({});
  Result<std::shared_ptr<Zygote>> fresh =
      co_await Zygote::start(host, environment, limits, imports.with(environment.preload), network);
  if (!fresh && !learned.empty() && !co_await cancelled()) {
    imports.give_up(learned);
    fresh = co_await Zygote::start(host, environment, limits, environment.preload, network);
  }
  if (fresh) imports.give_up((*fresh)->failed_imports());
  co_return fresh;
}

PythonSource::PythonSource(Host& host, EnvironmentSpec environment, Limits limits)
    : host_(host), environment_(std::move(environment)), limits_(limits), started_(host.executor) {}

void PythonSource::replace_zygote(std::shared_ptr<Zygote> fresh) {
  if (zygote_) retired_.push_back(std::move(zygote_));
  zygote_ = std::move(fresh);
}

// A retired zygote goes when its last child has: the children hold it too. More may retire while this waits.
Task<void> PythonSource::stop_unused() {
  for (std::shared_ptr<Zygote>& old : std::exchange(retired_, {})) {
    if (old.use_count() > 1) {
      retired_.push_back(std::move(old));
    } else {
      co_await old->stop();
    }
  }
}

// Whoever comes while a zygote is starting waits for that one.
Task<Result<std::shared_ptr<Zygote>>> PythonSource::zygote() {
  if (zygote_ && zygote_->gone()) replace_zygote(nullptr);
  while (!zygote_ && starting_) {
    co_await started_.wait();
  }
  if (zygote_ && !zygote_->gone()) co_return zygote_;
  starting_ = true;
  Result<std::shared_ptr<Zygote>> fresh =
      co_await start_zygote(host_, environment_, limits_, imports_, RunnerNetwork::kOwn);
  starting_ = false;
  started_.tell();
  if (fresh) replace_zygote(*fresh);
  co_return fresh;
}

Task<Result<std::shared_ptr<Runner>>> PythonSource::start_now() {
  BJ_CO_TRY(const auto zygote, co_await this->zygote());
  BJ_CO_TRY(auto child, zygote->fork(Readiness::kLazy));
  co_return std::shared_ptr<Runner>(std::move(child));
}

Task<Result<std::shared_ptr<Runner>>> PythonSource::start_ahead() {
  if (renew_) {
    renew_ = false;
    Result<std::shared_ptr<Zygote>> fresh =
        co_await start_zygote(host_, environment_, limits_, imports_, RunnerNetwork::kOwn);
    if (fresh) replace_zygote(std::move(*fresh));
  }
  co_await stop_unused();
  BJ_CO_TRY(const auto zygote, co_await this->zygote());
  BJ_CO_TRY(auto child, zygote->fork(Readiness::kLazy));
  BJ_CO_CHECK(co_await child->born());
  BJ_CO_CHECK(co_await await_sealed(*child));
  co_return std::shared_ptr<Runner>(std::move(child));
}

Task<Result<void>> await_sealed(Runner& child) {
  const Result<void> ready = co_await await_ready(child, kSealTime);
  if (ready) co_return Result<void>();
  co_await child.bury();
  co_return fail(Code::kUnavailable, "a child could not be sealed: " + ready.error().what);
}

Task<bool> PythonSource::warm_up(Runner& runner) { return warm_up_python(runner); }

Task<bool> warm_up_python(Runner& runner) {
  if (!runner.send(encode_frame(FrameType::kWarmUp, {}))) co_return false;
  co_return (co_await await_ready(runner, kWarmUpTime)).has_value();
}

void PythonSource::learn(const CallResult& result) {
  if (imports_.learn(result.imports)) renew_ = true;
}

Task<void> PythonSource::stop() {
  replace_zygote(nullptr);
  for (const auto& zygote : std::exchange(retired_, {})) co_await zygote->stop();
}

}  // namespace bj
