#include "egress/dns_message.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

using namespace std::string_literals;
using Status = DnsReading::Status;

std::string header(uint16_t flags, uint16_t questions = 1, uint16_t answers = 0, uint16_t authorities = 0,
                   uint16_t additionals = 0) {
  std::string bytes = "\x12\x34";
  for (const uint16_t value : {flags, questions, answers, authorities, additionals})
    bytes += {static_cast<char>(value >> 8), static_cast<char>(value)};
  return bytes;
}

const std::string kName = "\3Www\7example\3com\0"s;
const std::string kA = "\0\1\0\1"s, kAaaa = "\0\x1C\0\1"s;
const std::string kOpt = "\0\0\x29\x04\xD0\0\0\x80\0\0\0"s;  // 1232 bytes, DNSSEC OK

unsigned at16(std::string_view bytes, size_t where) {
  return static_cast<uint8_t>(bytes[where]) << 8 | static_cast<uint8_t>(bytes[where + 1]);
}
unsigned code_of(std::string_view message) { return at16(message, 2) & 0xF; }

TEST(DnsMessageTest, AQueryIsRead) {
  const DnsReading reading = read_dns_query(header(0x0100) + kName + kA);
  ASSERT_EQ(reading.status, Status::kQuery);
  EXPECT_EQ(reading.query.id, 0x1234);
  EXPECT_EQ(reading.query.name, "Www.example.com");
  EXPECT_TRUE(reading.query.recursion_desired);
  EXPECT_TRUE(reading.query.asks_for_address());
  EXPECT_FALSE(reading.query.edns);
}

TEST(DnsMessageTest, EdnsIsReadAndEchoed) {
  const DnsReading reading = read_dns_query(header(0x0120, 1, 0, 0, 1) + kName + kAaaa + kOpt);
  ASSERT_EQ(reading.status, Status::kQuery);
  ASSERT_TRUE(reading.query.edns);
  EXPECT_EQ(reading.query.edns->udp_size, 1232);
  EXPECT_TRUE(reading.query.edns->dnssec_ok);
  const std::string answer = write_dns_answer(reading.query, {}, DnsTransport::kUdp);
  EXPECT_EQ(at16(answer, 10), 1u);
  EXPECT_TRUE(answer.ends_with("\0\0\x29\x04\xD0\0\0\x80\0\0\0"s));
}

TEST(DnsMessageTest, AnswersCarryAddressesOfTheKindThatWasAsked) {
  const DnsAnswer both{DnsCode::kNoError, {*IpAddress::parse("198.18.1.7"), *IpAddress::parse("fd00:be11::1:7")}, 60};
  const auto a = read_dns_query(header(0x0100) + kName + kA).query;
  EXPECT_EQ(write_dns_answer(a, both, DnsTransport::kUdp),
            header(0x8180, 1, 1) + kName + kA + "\xC0\x0C\0\1\0\1\0\0\0\x3C\0\4\xC6\x12\1\7"s);
  const auto aaaa = read_dns_query(header(0) + kName + kAaaa).query;
  EXPECT_EQ(write_dns_answer(aaaa, both, DnsTransport::kTcp),
            header(0x8080, 1, 1) + kName + kAaaa +
                "\xC0\x0C\0\x1C\0\1\0\0\0\x3C\0\x10\xFD\0\xBE\x11\0\0\0\0\0\0\0\0\0\1\0\7"s);
}

// TXT, HTTPS and the rest exist without data: no tunnel, no ECH keys, no hints of QUIC.
TEST(DnsMessageTest, OtherTypesGetNoData) {
  const DnsAnswer answer{DnsCode::kNoError, {*IpAddress::parse("198.18.1.7")}, 60};
  for (const int type : {2, 5, 6, 10, 12, 15, 16, 33, 35, 64, 65, 255, 257, 65280, 65535}) {
    const std::string question = kName + std::string{static_cast<char>(type >> 8), static_cast<char>(type)} + "\0\1"s;
    const auto reading = read_dns_query(header(0x0100) + question);
    ASSERT_EQ(reading.status, Status::kQuery) << type;
    EXPECT_EQ(write_dns_answer(reading.query, answer, DnsTransport::kUdp), header(0x8180) + question) << type;
  }
}

TEST(DnsMessageTest, CodesAreWritten) {
  const auto query = read_dns_query(header(0x0100) + kName + kA).query;
  for (const DnsCode code : {DnsCode::kNxDomain, DnsCode::kRefused, DnsCode::kServFail, DnsCode::kFormErr})
    EXPECT_EQ(code_of(write_dns_answer(query, {code, {}, 60}, DnsTransport::kUdp)), static_cast<unsigned>(code));
}

TEST(DnsMessageTest, WhatDoesNotFitUdpIsTruncated) {
  const auto query = read_dns_query(header(0x0100) + kName + kA).query;
  DnsAnswer many;
  for (uint32_t i = 0; i < 100; ++i) many.addresses.push_back(IpAddress::v4(0xC6120100 + i));
  const std::string udp = write_dns_answer(query, many, DnsTransport::kUdp);
  EXPECT_EQ(udp, header(0x8380) + kName + kA);
  const std::string tcp = write_dns_answer(query, many, DnsTransport::kTcp);
  EXPECT_EQ(at16(tcp, 6), 100u);
  EXPECT_EQ(at16(tcp, 2) & 0x0200, 0u);
}

TEST(DnsMessageTest, HostileMessagesAreRefusedOrDropped) {
  const std::string label(63, 'a'), long_label = "\x3F" + label;
  const struct {
    const char* what;
    std::string bytes;
    Status status;
    unsigned code;
  } cases[] = {
      {"nothing", "", Status::kDrop, 0},
      {"eleven bytes", std::string(11, '\0'), Status::kDrop, 0},
      {"an answer", header(0x8180) + kName + kA, Status::kDrop, 0},
      {"no question", header(0x0100, 0), Status::kFault, 1},
      {"two questions", header(0x0100, 2) + kName + kA + kName + kA, Status::kFault, 1},
      {"many questions", header(0x0100, 65535) + kName + kA, Status::kFault, 1},
      {"a pointer to itself", header(0x0100) + "\xC0\x0C"s + kA, Status::kFault, 1},
      {"a pointer backwards", header(0x0100) + "\1a\xC0\x0C"s + kA, Status::kFault, 1},
      {"a pointer into the header", header(0x0100) + "\xC0\0"s + kA, Status::kFault, 1},
      {"label type 01", header(0x0100) + "\x41\1"s + std::string(70, 'a') + "\0"s + kA, Status::kFault, 1},
      {"a label past the end", header(0x0100) + "\x3Fwww"s, Status::kFault, 1},
      {"no end of name", header(0x0100) + "\3www"s, Status::kFault, 1},
      {"no type", header(0x0100) + kName, Status::kFault, 1},
      {"half a class", header(0x0100) + kName + "\0\1\0"s, Status::kFault, 1},
      {"256 bytes of name", header(0x0100) + long_label + long_label + long_label + long_label + "\0"s + kA,
       Status::kFault, 1},
      {"a dot in a label",
       header(0x0100) +
           "\x9"
           "evil.good\3com\0"s +
           kA,
       Status::kFault, 1},
      {"a NUL in a label", header(0x0100) + "\5go\0od\3com\0"s + kA, Status::kFault, 1},
      {"bytes behind", header(0x0100) + kName + kA + "x", Status::kFault, 1},
      {"an answer section", header(0x0100, 1, 1) + kName + kA, Status::kFault, 1},
      {"two OPT", header(0x0100, 1, 0, 0, 2) + kName + kA + kOpt + kOpt, Status::kFault, 1},
      {"OPT with a name", header(0x0100, 1, 0, 0, 1) + kName + kA + "\1a" + kOpt, Status::kFault, 1},
      {"OPT cut off", header(0x0100, 1, 0, 0, 1) + kName + kA + kOpt.substr(0, 7), Status::kFault, 1},
      {"OPT with too long data", header(0x0100, 1, 0, 0, 1) + kName + kA + "\0\0\x29\x04\xD0\0\0\0\0\xFF\xFF"s,
       Status::kFault, 1},
      {"many additional records", header(0x0100, 1, 0, 0, 65535) + kName + kA + kOpt, Status::kFault, 1},
      {"EDNS version 1", header(0x0100, 1, 0, 0, 1) + kName + kA + "\0\0\x29\x04\xD0\0\1\0\0\0\0"s, Status::kFault, 0},
      {"status opcode", header(0x1000) + kName + kA, Status::kFault, 4},
      {"an update", header(0x2800) + kName + kA, Status::kFault, 4},
      {"class CHAOS", header(0x0100) + kName + "\0\x10\0\3"s, Status::kFault, 5},
      {"class NONE", header(0x0100) + kName + "\0\1\0\xFE"s, Status::kFault, 5},
      {"a zone transfer", header(0x0100) + kName + "\0\xFC\0\1"s, Status::kFault, 5},
      {"too long", header(0x0100) + kName + kA + std::string(5000, 'x'), Status::kFault, 1},
  };
  for (const auto& one : cases) {
    const DnsReading reading = read_dns_query(one.bytes);
    EXPECT_EQ(reading.status, one.status) << one.what;
    EXPECT_FALSE(reading.reason.empty()) << one.what;
    if (reading.status != Status::kFault) continue;
    EXPECT_EQ(code_of(reading.fault), one.code) << one.what;
    EXPECT_EQ(reading.fault.substr(0, 2), "\x12\x34") << one.what;
    EXPECT_TRUE(at16(reading.fault, 2) & 0x8000) << one.what;
  }
}

TEST(DnsMessageTest, TheRootAndTheLongestNameAreNames) {
  EXPECT_EQ(read_dns_query(header(0x0100) + "\0"s + kA).query.name, "");
  const std::string label = "\x3F" + std::string(63, 'a');
  const auto reading =
      read_dns_query(header(0x0100) + label + label + label + "\x3D" + std::string(61, 'b') + "\0"s + kA);
  ASSERT_EQ(reading.status, Status::kQuery);
  EXPECT_EQ(reading.query.name.size(), 253u);
}

TEST(DnsMessageTest, FramesOfTcpAreCutOut) {
  const std::string message = header(0x0100) + kName + kA;
  const std::string framed = frame_dns_message(message);
  for (size_t i = 0; i < framed.size(); ++i)
    EXPECT_EQ(next_dns_frame(std::string_view(framed).substr(0, i)).status, DnsFrame::Status::kNeedMore);
  const std::string two = framed + framed;
  const DnsFrame frame = next_dns_frame(two);
  ASSERT_EQ(frame.status, DnsFrame::Status::kMessage);
  EXPECT_EQ(frame.message, message);
  EXPECT_EQ(frame.used, framed.size());
  for (const auto& bad : {"\0\0"s, "\0\x0B"s, "\xFF\xFF"s, "\x10\1"s})
    EXPECT_EQ(next_dns_frame(bad).status, DnsFrame::Status::kBad);
}

}  // namespace
}  // namespace bj
