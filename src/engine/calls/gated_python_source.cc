#include "engine/calls/gated_python_source.h"

#include "engine/calls/python_source.h"

namespace bj {
namespace {

class OnlyChild : public Runner {
 public:
  OnlyChild(std::shared_ptr<Zygote> zygote, std::shared_ptr<Child> child)
      : zygote_(std::move(zygote)), child_(std::move(child)) {
    channel = std::move(child_->channel);
    output = std::move(child_->output);
    error = std::move(child_->error);
  }

  void kill() override {
    child_->kill();
    zygote_->kill();
  }
  Task<void> bury() override {
    co_await child_->bury();
    co_await zygote_->stop();
  }
  CgroupUsage used() const override { return child_->used(); }
  std::optional<int> exit_status() const override { return child_->exit_status(); }
  const Seal& seal() const override { return zygote_->seal(); }
  Result<void> open_network(const CallSpec& spec, GateListener listener) override {
    return zygote_->open_network(spec, std::move(listener));
  }
  void close_network() override { zygote_->close_network(); }

 private:
  std::shared_ptr<Zygote> zygote_;
  std::shared_ptr<Child> child_;
};

}  // namespace

Task<Result<std::shared_ptr<Runner>>> GatedPythonSource::start_now() {
  BJ_CO_TRY(const auto zygote, co_await start_zygote(host_, environment_, limits_, imports_, RunnerNetwork::kGated));
  Result<std::shared_ptr<Child>> child = zygote->fork(Readiness::kLazy);
  if (!child) {
    co_await zygote->stop();
    co_return tl::unexpected(child.error());
  }
  co_return std::make_shared<OnlyChild>(zygote, std::move(*child));
}

Task<Result<std::shared_ptr<Runner>>> GatedPythonSource::start_ahead() {
  BJ_CO_TRY(auto runner, co_await start_now());
  BJ_CO_CHECK(co_await await_sealed(*runner));
  co_return std::move(runner);
}

Task<bool> GatedPythonSource::warm_up(Runner& runner) { return warm_up_python(runner); }

void GatedPythonSource::learn(const CallResult& result) { (void)imports_.learn(result.imports); }

Task<void> GatedPythonSource::stop() { co_return; }

}  // namespace bj
