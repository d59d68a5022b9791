#include "egress/name_resolver.h"

#include <gtest/gtest.h>

#include <latch>

namespace bj {
namespace {

// Names that begin with "slow" are answered once the latch opens.
struct SlowNames {
  std::latch open{1};
  std::atomic<int> asked{0};

  NameResolver::Ask ask() {
    return [this](const std::string& name) -> Result<NameResolver::Addresses> {
      ++asked;
      if (name.starts_with("slow")) open.wait();
      return NameResolver::Addresses{IpAddress::v4(0x5db8d822)};
    };
  }
};

class NameResolverTest : public testing::Test {
 protected:
  void resolve(NameResolver& resolver, const std::string& name) {
    spawn(context_.get_executor(), [this, &resolver, name]() -> Task<void> {
      const auto found = co_await resolver.resolve(name);
      answers_ += found ? 1 : 0;
    });
  }
  template <class Done>
  void run_until(Done done) {
    const auto patience = Clock::now() + std::chrono::seconds(30);
    while (!done() && Clock::now() < patience) context_.run_one_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(done());
  }

  asio::io_context context_;
  int answers_ = 0;
};

TEST_F(NameResolverTest, AResolverTakesItsShareOfThreadsAndTheRestWaitsForItsTurn) {
  SlowNames names;
  NameResolver resolver(context_.get_executor(), names.ask());
  constexpr int kAll = NameResolver::kShare + 3;
  for (int i = 0; i < kAll; ++i) resolve(resolver, "slow" + std::to_string(i));
  run_until([&] { return names.asked == NameResolver::kShare; });
  context_.run_for(std::chrono::milliseconds(250));
  EXPECT_EQ(names.asked, NameResolver::kShare);
  names.open.count_down();
  run_until([&] { return answers_ == kAll; });
}

TEST_F(NameResolverTest, SlowNamesOfOneHoldUpNobodyElse) {
  SlowNames names;
  NameResolver hostile(context_.get_executor(), names.ask()), other(context_.get_executor(), names.ask());
  for (int i = 0; i < 2 * NameResolver::kMostThreads; ++i) resolve(hostile, "slow" + std::to_string(i));
  run_until([&] { return names.asked == NameResolver::kShare; });
  resolve(other, "quick.example");
  run_until([&] { return answers_ == 1; });
  names.open.count_down();
  run_until([&] { return answers_ == 2 * NameResolver::kMostThreads + 1; });
}

}  // namespace
}  // namespace bj
