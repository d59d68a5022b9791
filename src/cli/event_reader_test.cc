#include "cli/event_reader.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

TEST(EventReaderTest, EventsAreWholeHoweverTheyArrive) {
  const std::string wire = ": heartbeat\n\nevent: stdout\ndata: {\"a\": 1}\n\nevent: end\r\ndata: x\r\ndata: y\r\n\r\n";
  const Events expected = {{"stdout", "{\"a\": 1}"}, {"end", "x\ny"}};
  for (size_t piece = 1; piece <= wire.size(); ++piece) {
    EventReader reader;
    Events found;
    for (size_t at = 0; at < wire.size(); at += piece) {
      for (auto& event : reader.feed(std::string_view(wire).substr(at, piece))) found.push_back(event);
    }
    EXPECT_EQ(found, expected) << "in pieces of " << piece;
  }
}

TEST(EventReaderTest, AnEventThatIsNotOverIsNotTold) {
  EventReader reader;
  EXPECT_EQ(reader.feed("event: a\ndata: 1\n"), Events{});
  EXPECT_EQ(reader.feed("\n"), (Events{{"a", "1"}}));
}

}  // namespace
}  // namespace bj
