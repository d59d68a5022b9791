#include "base/ascii_json.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace bj {
namespace {

TEST(AsciiJsonTest, EveryByteIsAsciiAndTheValueIsTheSame) {
  const boost::json::value value{"plain", "\xc3\xa9\xe4\xbd\xa0", "\xf0\x9f\x98\x80 \"quoted\"\n"};
  const std::string text = ascii_json(boost::json::serialize(value));
  for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80) << text;
  EXPECT_EQ(boost::json::parse(text), value);
  EXPECT_EQ(text, R"(["plain","\u00e9\u4f60","\ud83d\ude00 \"quoted\"\n"])");
}

}  // namespace
}  // namespace bj
