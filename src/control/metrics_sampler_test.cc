#include "control/metrics_sampler.h"

#include "control/sandbox_manager_test_support.h"

namespace bj {
namespace {

using MetricsSamplerTest = SandboxManagerTest;

TEST_F(MetricsSamplerTest, OneThatWasStartedAgainUnderItsIdHasNotUsedAllItMay) {
  const std::string id = create().id;
  MetricsSampler sampler(io_.get_executor(), manager(), [this] { return now_.load(); });
  const auto sandbox = *run(manager().running(kDefaultOrganization, id));
  fake(id).measured.cpus = 1;
  fake(id).measured.cpu_ns = 5'000'000'000;
  EXPECT_EQ(run(sampler.of(sandbox)).size(), 1u);
  fake(id).measured.cpu_ns = 1'000'000;
  now_ += 5 * kSecondUs;
  sampler.start();
  run(manager().settle());
  while (run(sampler.of(sandbox)).size() < 2) io_.run_one();
  EXPECT_EQ(run(sampler.of(sandbox)).back().cpu_percent, 0);
  run(sampler.stop());
}

}  // namespace
}  // namespace bj
