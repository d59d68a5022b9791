#include "base/log.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace bj {
namespace {

TEST(LogTest, MachinesGetJson) {
  const std::string line = format_log_line(LogStyle::kJson, 1700000000.25, LogLevel::kWarning, "request",
                                           {{"status", 200}, {"route", "/v1"}, {"slow", true}, {"ms", 1.5}});
  EXPECT_EQ(line, R"({"time":"2023-11-14T22:13:20.250Z","level":"warning","event":"request","status":200,)"
                  R"("route":"/v1","slow":true,"ms":1.5})");
}

TEST(LogTest, HostileTextStaysOneLineAndReadable) {
  const std::string hostile =
      "a\"\\\n\r\x1b[2J\x7f\xff\xc2\x9b"
      "31m\u2028\u00e9" +
      std::string(1, '\0');
  for (const LogStyle style : {LogStyle::kJson, LogStyle::kText}) {
    const std::string line = format_log_line(style, 0, LogLevel::kInfo, "e", {{"k", hostile}});
    for (const char c : line) EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == 0x7f) << line;
    EXPECT_EQ(line.find("\xc2\x9b"), std::string::npos);
    EXPECT_EQ(line.find('\xff'), std::string::npos);
  }
  const std::string json = format_log_line(LogStyle::kJson, 0, LogLevel::kInfo, "e", {{"k", hostile}});
  EXPECT_TRUE(boost::json::parse(json).at("k").as_string().starts_with("a\"\\\n\r\x1b[2J"));
}

TEST(LogTest, LongValuesAreCut) {
  const std::string line = format_log_line(LogStyle::kText, 0, LogLevel::kInfo, "e", {{"k", std::string(100000, 'x')}});
  EXPECT_LT(line.size(), 1100U);
}

TEST(LogTest, NumbersThatJsonLacksAreNull) {
  const std::string line = format_log_line(LogStyle::kJson, 0, LogLevel::kInfo, "e", {{"k", 1.0 / 0.0}});
  EXPECT_NE(line.find("\"k\":null"), std::string::npos);
}

}  // namespace
}  // namespace bj
