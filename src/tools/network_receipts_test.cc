#include "tools/network_receipts.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "store/store_test_support.h"

namespace bj {
namespace {

namespace json = boost::json;

class NetworkReceiptsTest : public testing::Test {
 protected:
  void SetUp() override {
    StoreOptions options;
    options.data_directory = directory_.path();
    auto opened = Store::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().what;
    store_ = std::move(*opened);
    auto notary = Notary::open(directory_.path());
    ASSERT_TRUE(notary) << notary.error().what;
    audit_ = std::make_unique<AuditLog>(io_.get_executor(), *store_, threads_, std::move(*notary));
  }
  void TearDown() override { threads_.join(); }

  std::vector<AuditRow> written() {
    asio::co_spawn(io_, audit_->flush(),
                   [](const std::exception_ptr&, const Result<void>& done) { EXPECT_TRUE(done) << done.error().what; });
    io_.restart();
    io_.run();
    AuditFilter filter;
    filter.order = Order::kAscending;
    filter.limit = 1000;
    return store_->audit().list(filter).value();
  }

  ScratchDirectory directory_;
  asio::io_context io_;
  asio::thread_pool threads_{1};
  std::unique_ptr<Store> store_;
  std::unique_ptr<AuditLog> audit_;
};

GateEvent denied(const std::string& host, GateEvent::Kind kind = GateEvent::Kind::kConnectionDenied) {
  GateEvent event;
  event.kind = kind;
  event.host = host;
  event.port = 443;
  event.decision = {Verdict::kDeny, "organization", 2, "deny evil.example", "a rule denies evil.example"};
  return event;
}

TEST_F(NetworkReceiptsTest, ADecisionIsWrittenWithItsLayerRuleAndReason) {
  NetworkReceipts receipts(*audit_, {}, "call-1", nullptr);
  receipts.note(denied("evil.example"));
  receipts.finish();
  const std::vector<AuditRow> rows = written();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kind, "policy_decision");
  EXPECT_EQ(rows[0].action, "network.connect");
  EXPECT_EQ(rows[0].outcome, "denied");
  EXPECT_EQ(rows[0].subject, "evil.example");
  EXPECT_EQ(rows[0].call_id, "call-1");
  const json::object decision = json::parse(rows[0].detail).at("decision").as_object();
  EXPECT_EQ(decision.at("layer"), "organization");
  EXPECT_EQ(decision.at("rule"), 2);
  EXPECT_EQ(decision.at("reason"), "a rule denies evil.example");
}

TEST_F(NetworkReceiptsTest, AUseOfACredentialNamesItAndTheHost) {
  NetworkReceipts receipts(*audit_, {}, "call-1", nullptr);
  GateEvent used = denied("api.example.org", GateEvent::Kind::kSecretUsed);
  used.credential = "github";
  receipts.note(used);
  const std::vector<AuditRow> rows = written();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kind, "secret_use");
  EXPECT_EQ(rows[0].subject, "github");
  EXPECT_EQ(json::parse(rows[0].detail).at("host"), "api.example.org");
  EXPECT_FALSE(json::parse(rows[0].detail).as_object().contains("decision")) << "none was made: it says \"deny\"";
}

TEST_F(NetworkReceiptsTest, ACapThatWasReachedIsNamed) {
  NetworkReceipts receipts(*audit_, {}, "call-1", nullptr);
  GateEvent reached = denied("api.example.org", GateEvent::Kind::kCapReached);
  reached.cap = "bytes_sent";
  receipts.note(reached);
  const std::vector<AuditRow> rows = written();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].action, "network.cap");
  EXPECT_EQ(rows[0].outcome, "limited");
  EXPECT_EQ(json::parse(rows[0].detail).at("cap"), "bytes_sent");
}

TEST_F(NetworkReceiptsTest, AFloodIsCountedInsteadOfWrittenAndNothingIsLeftOutSilently) {
  uint64_t followed = 0;
  NetworkReceipts receipts(*audit_, {}, "call-1", [&followed](const GateEvent&) { followed++; });
  for (int i = 0; i < 5000; ++i) receipts.note(denied(std::to_string(i) + ".example", GateEvent::Kind::kNameDenied));
  receipts.note(denied("one.example"));
  receipts.finish();
  const std::vector<AuditRow> rows = written();
  ASSERT_EQ(rows.size(), NetworkReceipts::kMostOfEach + 2);
  EXPECT_EQ(followed, NetworkReceipts::kMostOfEach + 1);
  EXPECT_EQ(rows.back().action, "network.more");
  EXPECT_EQ(json::parse(rows.back().detail).at("more").at("name_denied"), 5000 - NetworkReceipts::kMostOfEach);
}

TEST_F(NetworkReceiptsTest, TotalsHoldEveryByteAndStaySmall) {
  NetworkReceipts receipts(*audit_, {}, "call-1", nullptr);
  NetworkUse use;
  for (int i = 0; i < 100; ++i) {
    GateEvent event = denied(std::to_string(i) + std::string(240, 'x'), GateEvent::Kind::kConnected);
    receipts.note(event);
    use.note(event);
    event.kind = GateEvent::Kind::kEnded;
    event.bytes_sent = 10;
    event.bytes_received = 100;
    receipts.note(event);
    use.note(event);
  }
  const json::object totals = receipts.totals(use);
  EXPECT_EQ(totals.at("bytes_sent"), 1000);
  EXPECT_EQ(totals.at("bytes_received"), 10'000);
  EXPECT_EQ(totals.at("connections"), 100);
  EXPECT_LT(json::serialize(totals).size(), 5000u);  // a detail is left out as a whole when it is too long
}

TEST_F(NetworkReceiptsTest, NamesFromInsideAreBounded) {
  NetworkReceipts receipts(*audit_, {}, "call-1", nullptr);
  receipts.note(denied(std::string(100'000, 'x')));
  EXPECT_LT(written()[0].detail.size(), 1000u);
}

TEST_F(NetworkReceiptsTest, OfASandboxThatLivesTheEndOfAConnectionTellsItsBytes) {
  NetworkReceipts receipts(*audit_, {}, "sandbox-1", nullptr, [] { return int64_t{1}; });
  GateEvent ended = denied("api.example.org", GateEvent::Kind::kEnded);
  ended.bytes_sent = 7;
  ended.bytes_received = 11;
  receipts.note(ended);
  const std::vector<AuditRow> rows = written();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].action, "network.end");
  EXPECT_EQ(rows[0].subject, "api.example.org");
  EXPECT_EQ(json::parse(rows[0].detail).at("bytes_sent"), 7);
  EXPECT_EQ(json::parse(rows[0].detail).at("bytes_received"), 11);
}

// A day's life must not be told by its first 32 connections.
TEST_F(NetworkReceiptsTest, OfASandboxThatLivesEveryMinuteHasItsOwnBound) {
  int64_t now = 0;
  NetworkReceipts receipts(*audit_, {}, "sandbox-1", nullptr, [&now] { return now += 1; });
  GateEvent ended = denied("api.example.org", GateEvent::Kind::kEnded);
  ended.bytes_sent = 1;
  for (uint64_t i = 0; i < NetworkReceipts::kMostOfEach + 5; ++i) receipts.note(ended);
  now += 60'000'000;
  receipts.note(denied("later.example"));
  receipts.finish();
  const std::vector<AuditRow> rows = written();
  ASSERT_EQ(rows.size(), NetworkReceipts::kMostOfEach + 2);
  const AuditRow& more = rows[NetworkReceipts::kMostOfEach];
  EXPECT_EQ(more.action, "network.more");
  EXPECT_EQ(json::parse(more.detail).at("more").at("ended"), 5);
  EXPECT_EQ(json::parse(more.detail).at("bytes_sent"), 5);
  EXPECT_EQ(rows.back().subject, "later.example");
}

}  // namespace
}  // namespace bj
