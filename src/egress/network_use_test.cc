#include "egress/network_use.h"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace bj {
namespace {

using Kind = GateEvent::Kind;

GateEvent event(Kind kind, std::string host, uint16_t port, std::string reason = {}) {
  GateEvent made;
  made.kind = kind;
  made.host = std::move(host);
  made.port = port;
  made.decision.reason = std::move(reason);
  return made;
}

GateEvent ended(std::string host, uint64_t sent, uint64_t received) {
  GateEvent made = event(Kind::kEnded, std::move(host), 443);
  made.bytes_sent = sent;
  made.bytes_received = received;
  return made;
}

TEST(NetworkUseTest, BytesOfAllConnectionsToAPlaceAreAddedUp) {
  NetworkUse use;
  for (int i = 0; i < 2; ++i) use.note(event(Kind::kConnected, "a.example", 443));
  use.note(ended("a.example", 10, 100));
  use.note(ended("a.example", 1, 2));
  ASSERT_EQ(use.reached.size(), 1u);
  EXPECT_EQ(use.reached[0].connections, 2u);
  EXPECT_EQ(use.reached[0].bytes_sent, 11u);
  EXPECT_EQ(use.reached[0].bytes_received, 102u);
}

TEST(NetworkUseTest, ADenialIsCountedByPlaceAndReason) {
  NetworkUse use;
  for (const char* reason : {"no rule", "no rule", "another"})
    use.note(event(Kind::kNameDenied, "b.example", 0, reason));
  use.note(event(Kind::kUpstreamFailed, "b.example", 80, "connect: refused"));
  ASSERT_EQ(use.denied.size(), 2u);
  EXPECT_EQ(use.denied[0].times, 2u);
  EXPECT_EQ(refusal_text(use.denied[1]), "b.example: another");
  ASSERT_EQ(use.failed.size(), 1u);
  EXPECT_EQ(refusal_text(use.failed[0]), "b.example:80: connect: refused");
}

TEST(NetworkUseTest, AFloodOfPlacesIsCountedAndNotKept) {
  NetworkUse use;
  for (size_t i = 0; i < 10'000; ++i) {
    use.note(event(Kind::kNameDenied, std::to_string(i) + ".example", 0, "no rule"));
    use.note(event(Kind::kConnected, std::to_string(i) + ".example", 443));
    use.note(ended(std::to_string(i) + ".example", 1, 1));
  }
  EXPECT_EQ(use.denied.size(), NetworkUse::kMost);
  EXPECT_EQ(use.reached.size(), NetworkUse::kMost);
  EXPECT_EQ(use.left_out, 2 * (10'000 - NetworkUse::kMost));
}

TEST(NetworkUseTest, TheNextListenerHearsEverything) {
  const auto use = std::make_shared<NetworkUse>();
  int heard = 0;
  const GateListener listener = noting(use, [&](const GateEvent&) { ++heard; });
  listener(event(Kind::kConnected, "a.example", 443));
  listener(ended("a.example", 3, 4));
  EXPECT_EQ(heard, 2);
  EXPECT_EQ(boost::json::serialize(network_use_json(*use)),
            R"({"reached":[{"host":"a.example","port":443,"connections":1,"bytes_sent":3,"bytes_received":4}],)"
            R"("denied":[],"failed":[],"caps_reached":[],"left_out":0})");
}

}  // namespace
}  // namespace bj
