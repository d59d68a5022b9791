#include "egress/client_hello.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

using namespace std::string_literals;
using Status = ClientHello::Status;

// As OpenSSL sends it, for www.example.com with h2 and http/1.1.
constexpr std::string_view kOpenSslHello =
    "16030100ad010000a90303db3bed42224c8ebde6c3a3fc271a0f0e5952aae834efa1b59164e799c6364a4d000004c02f00ff"
    "0100007c00000014001200000f7777772e6578616d706c652e636f6d000b000403000102000a000c000a001d0017001e0019"
    "0018002300000010000e000c02683208687474702f312e310016000000170000000d002a0028040305030603080708080809"
    "080a080b080408050806040105010601030303010302040205020602";

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

std::string sized16(std::string_view bytes) {
  return std::string{static_cast<char>(bytes.size() >> 8), static_cast<char>(bytes.size())} + std::string(bytes);
}

std::string extension(unsigned type, std::string_view body) {
  return std::string{static_cast<char>(type >> 8), static_cast<char>(type)} + sized16(body);
}

std::string sni(std::string_view name) { return extension(0, sized16("\0"s + sized16(name))); }

std::string handshake(const std::string& extensions) {
  const std::string body = "\3\3" + std::string(32, 'r') + "\0"s + "\0\2\x13\1"s + "\1\0"s + sized16(extensions);
  return "\1\0"s + sized16(body);
}

std::string record(std::string_view bytes) { return "\x16\3\1"s + sized16(bytes); }

std::string hello(const std::string& extensions) { return record(handshake(extensions)); }

TEST(ClientHelloTest, ARealHelloIsReadHoweverItArrives) {
  const std::string bytes = from_hex(kOpenSslHello);
  const ClientHello whole = read_client_hello(bytes);
  ASSERT_EQ(whole.status, Status::kFound) << whole.reason;
  EXPECT_EQ(whole.server_name, "www.example.com");
  EXPECT_EQ(whole.alpn, (std::vector<std::string>{"h2", "http/1.1"}));
  EXPECT_FALSE(whole.encrypted_hello);
  for (size_t i = 0; i < bytes.size(); ++i)
    ASSERT_EQ(read_client_hello(std::string_view(bytes).substr(0, i)).status, Status::kNeedMore) << i;
  EXPECT_EQ(read_client_hello(bytes + "early data").status, Status::kFound);
}

TEST(ClientHelloTest, AHelloCutIntoRecordsIsPutTogether) {
  const std::string whole = handshake(sni("a.example"));
  std::string bytes;
  for (size_t i = 0; i < whole.size(); i += 7) bytes += record(std::string_view(whole).substr(i, 7));
  const ClientHello read = read_client_hello(bytes);
  ASSERT_EQ(read.status, Status::kFound) << read.reason;
  EXPECT_EQ(read.server_name, "a.example");
  for (size_t i = 0; i < bytes.size(); ++i)
    ASSERT_EQ(read_client_hello(std::string_view(bytes).substr(0, i)).status, Status::kNeedMore) << i;
}

TEST(ClientHelloTest, ALargeHelloWithPostQuantumSharesIsRead) {
  const ClientHello read = read_client_hello(hello(extension(51, std::string(1800, 'k')) + sni("A.Example")));
  ASSERT_EQ(read.status, Status::kFound);
  EXPECT_EQ(read.server_name, "a.example");
}

TEST(ClientHelloTest, NoNameIsToldApartFromAName) {
  const ClientHello without = read_client_hello(hello(extension(43, "\2\3\4")));
  EXPECT_EQ(without.status, Status::kFound);
  EXPECT_FALSE(without.server_name);
  const ClientHello bare =
      read_client_hello(record("\1\0"s + sized16("\3\1" + std::string(32, 'r') + "\0"s + "\0\2\x13\1"s + "\1\0"s)));
  EXPECT_EQ(bare.status, Status::kFound);
  EXPECT_FALSE(bare.server_name);
}

TEST(ClientHelloTest, AnEncryptedHelloIsReported) {
  const ClientHello read = read_client_hello(hello(sni("public.example") + extension(0xFE0D, "\0\0\1\0\1"s)));
  EXPECT_EQ(read.status, Status::kFound);
  EXPECT_TRUE(read.encrypted_hello);
  EXPECT_EQ(read.server_name, "public.example");
}

TEST(ClientHelloTest, OtherProtocolsAreNotTls) {
  for (const auto& bytes : {"GET / HTTP/1.1\r\n"s, "SSH-2.0-x\r\n"s, "\x80\x2E\1\0\2"s, "\x80\x2E\2"s, "\xFF\xFD\1"s,
                            "\x16\x10\0"s, "\x17\2"s, "\0"s,
                            // A message of MongoDB's, which begins with its length.
                            "\x16\1\0\0\1\0\0\0"s, "\x15\1\0\0\1\0\0\0"s})
    EXPECT_EQ(read_client_hello(bytes).status, Status::kNotTls) << bytes;
}

// Family 18: Go's server drops the alert and answers for the name in the hello, which nobody had looked at.
TEST(ClientHelloTest, AHelloBehindSomethingThatServersSkipIsNoOtherProtocol) {
  const std::string good = hello(sni("good.example"));
  const std::string alert = "\x15\3\1\0\2\1\x5A"s;
  for (const auto& bytes :
       {alert + good, alert, "\x15\0\0\0\2\1\x5A"s + good, "\x14\3\3\0\1\1"s + good, "\x17\3\3\0\5hello"s,
        "\x18\3\3\0\3\1\0\0"s + good, record("\0\0\0\0"s) + good, record("\2\0\0\1x"s), "\x16\2\0"s + good.substr(3),
        "\x16\0\0"s + good.substr(3), "\x80\x2E\1\3\3\0\x15"s, "\x81\0\1\3\1"s}) {
    const ClientHello read = read_client_hello(bytes);
    EXPECT_EQ(read.status, Status::kMalformed) << bytes;
    EXPECT_FALSE(read.reason.empty());
    for (size_t i = 0; i < bytes.size(); ++i)
      ASSERT_NE(read_client_hello(std::string_view(bytes).substr(0, i)).status, Status::kNotTls) << bytes << " " << i;
  }
}

// Families 18 and 21.
TEST(ClientHelloTest, WhatAServerCouldReadDifferentlyIsMalformed) {
  const std::string good = sni("good.example");
  const struct {
    const char* what;
    std::string bytes;
  } cases[] = {
      {"two extensions of names", hello(good + sni("evil.example"))},
      {"the same extension twice", hello(good + good)},
      {"two names", hello(extension(0, sized16("\0"s + sized16("good.example") + "\0"s + sized16("evil.example"))))},
      {"another type of name", hello(extension(0, sized16("\1" + sized16("good.example"))))},
      {"an empty list", hello(extension(0, sized16("")))},
      {"an empty extension", hello(extension(0, ""))},
      {"an empty name", hello(sni(""))},
      {"bytes behind the list", hello(extension(0, sized16("\0"s + sized16("good.example")) + "x"))},
      {"a name longer than its list", hello(extension(0, "\0\x05\0\0\x20good"s))},
      {"NUL", hello(sni("good.example\0.evil.example"s))},
      {"an IPv4 address", hello(sni("10.0.0.1"))},
      {"a decimal address", hello(sni("2130706433"))},
      {"an IPv6 address", hello(sni("::1"))},
      {"a trailing dot", hello(sni("good.example."))},
      {"a port", hello(sni("good.example:443"))},
      {"a line end", hello(sni("good.example\r\n"))},
      {"not ASCII", hello(sni("g\xC3\xB6od.example"))},
      {"a long name", hello(sni(std::string(300, 'a')))},
      {"an extension past the end", hello("\0\0\xFF\xFFxx"s)},
      {"half an extension", hello("\0"s)},
      {"an empty protocol", hello(extension(16, sized16("\0"s)))},
      {"protocols past the end", hello(extension(16, sized16("\5h2"s)))},
      {"an empty record", record("") + hello(good)},
      {"a huge record", "\x16\3\1\xFF\xFF"s},
      {"a huge hello", record("\1\xFF\xFF\xFF"s)},
      {"an alert within", record(handshake(good).substr(0, 20)) + "\x15\3\3\0\2\1\0"s},
      {"something behind the hello", record(handshake(good) + "\2")},
      {"two hellos in a record", record(handshake(good) + handshake(sni("evil.example")))},
      {"an odd list of ciphers",
       record("\1\0"s + sized16("\3\3" + std::string(32, 'r') + "\0"s + "\0\3\x13\1\1"s + "\1\0"s))},
      {"a long session",
       record("\1\0"s + sized16("\3\3" + std::string(32, 'r') + "\x21" + std::string(33, 's') + "\0\2\x13\1\1\0"s))},
      {"no compression", record("\1\0"s + sized16("\3\3" + std::string(32, 'r') + "\0"s + "\0\2\x13\1\0"s))},
      {"an unknown version", record("\1\0"s + sized16("\2\0"s + std::string(32, 'r') + "\0"s + "\0\2\x13\1\1\0"s))},
  };
  for (const auto& one : cases) {
    const ClientHello read = read_client_hello(one.bytes);
    EXPECT_EQ(read.status, Status::kMalformed) << one.what;
    EXPECT_FALSE(read.reason.empty()) << one.what;
    EXPECT_FALSE(read.server_name) << one.what;
  }
}

TEST(ClientHelloTest, LengthAndRecordsAreBounded) {
  std::string many;
  const std::string whole = handshake(sni("a.example"));
  for (const char byte : whole) many += record(std::string(1, byte));
  EXPECT_EQ(read_client_hello(many).status, Status::kMalformed);
  const std::string big = handshake(extension(21, std::string(60000, '\0')));
  std::string records;
  for (size_t i = 0; i < big.size(); i += 16000) records += record(std::string_view(big).substr(i, 16000));
  EXPECT_EQ(read_client_hello(records.substr(0, kMaxClientHello)).status, Status::kMalformed);
}

}  // namespace
}  // namespace bj
