#include "egress/flow_totals.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

using std::chrono::seconds;

// A clock that stands still unless the test moves it.
class FlowTotalsTest : public testing::Test {
 protected:
  void keep(std::optional<uint64_t> NetworkCaps::* which, uint64_t value) {
    NetworkCaps caps;
    caps.*which = value;
    totals_.keep(caps);
  }
  // What room() says, or nothing while it waits.
  std::optional<size_t> room(size_t most) {
    auto said = std::make_shared<std::optional<size_t>>();
    spawn(context_.get_executor(),
          [this, said, most]() -> Task<void> { *said = co_await totals_.room(socket_, most); });
    context_.restart();
    context_.poll();
    return *said;
  }

  asio::io_context context_;
  asio::ip::tcp::socket socket_{context_, asio::ip::tcp::v4()};
  std::vector<std::string> heard_;
  Clock::time_point now_ = Clock::now() + seconds(1000);
  FlowTotals totals_{[this](const std::string& cap, const std::string& what) { heard_.push_back(cap + ": " + what); },
                     [this] { return now_; }};
};

TEST_F(FlowTotalsTest, WithoutACapAnythingGoes) {
  EXPECT_EQ(room(65536), 65536u);
  EXPECT_TRUE(totals_.count_sent(UINT64_MAX / 2));
  EXPECT_FALSE(totals_.delay_connection());
  EXPECT_TRUE(heard_.empty());
}

TEST_F(FlowTotalsTest, BothWaysShareTheBytesOfASecondAndThenReadsWait) {
  keep(&NetworkCaps::bytes_per_second, 1000);
  EXPECT_EQ(room(65536), 1000u);
  EXPECT_TRUE(totals_.count_sent(600));
  EXPECT_EQ(room(65536), 400u);
  EXPECT_TRUE(totals_.count_received(400));
  EXPECT_EQ(room(65536), std::nullopt);
  EXPECT_EQ(heard_, std::vector<std::string>{"bytes_per_second: slowed down"});
  now_ += seconds(1);
  EXPECT_EQ(room(300), 300u);
}

TEST_F(FlowTotalsTest, TheSameCapSetAgainDoesNotStartANewSecond) {
  keep(&NetworkCaps::bytes_per_second, 1000);
  EXPECT_TRUE(totals_.count_sent(1000));
  keep(&NetworkCaps::bytes_per_second, 1000);
  EXPECT_EQ(room(10), std::nullopt);
}

TEST_F(FlowTotalsTest, BeyondTheBytesOfALifeIsToldOnce) {
  keep(&NetworkCaps::bytes_sent, 10);
  EXPECT_TRUE(totals_.count_sent(10));
  EXPECT_TRUE(totals_.count_received(1000));
  EXPECT_FALSE(totals_.count_sent(1));
  EXPECT_FALSE(totals_.count_sent(1));
  EXPECT_EQ(heard_, std::vector<std::string>{"bytes_sent: connections ended"});
}

TEST_F(FlowTotalsTest, ConnectionsBeyondTheRateAreTakenLater) {
  keep(&NetworkCaps::connections_per_second, 2);
  EXPECT_FALSE(totals_.delay_connection());
  EXPECT_FALSE(totals_.delay_connection());
  const auto later = totals_.delay_connection();
  ASSERT_TRUE(later);
  EXPECT_GT(*later, now_);
  EXPECT_EQ(heard_, std::vector<std::string>{"connections_per_second: delayed"});
  now_ = *later;
  EXPECT_FALSE(totals_.delay_connection());
}

}  // namespace
}  // namespace bj
