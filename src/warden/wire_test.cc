#include "warden/wire.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace bj::ward {
namespace {

Request request_for(Op op, uint32_t arguments = 0, uint32_t environment = 0) {
  Request request{};
  request.id = 7;
  request.op = op;
  request.argument_count = arguments;
  request.environment_count = environment;
  return request;
}

std::string encode(const Request& request, const std::vector<std::string>& strings) {
  std::string bytes(reinterpret_cast<const char*>(&request), sizeof request);
  for (const std::string& text : strings) bytes.append(text).push_back('\0');
  return bytes;
}

bool decodes(const std::string& bytes) {
  // On the heap and exactly as long as it says, so that a sanitizer sees a read beyond the end.
  const std::vector<char> exact(bytes.begin(), bytes.end());
  Request request{};
  const char* strings = nullptr;
  return decode(exact.data(), exact.size(), request, strings);
}

TEST(WireTest, ASpawnRequestArrivesWithItsStrings) {
  Request sent = request_for(Op::kSpawn, 2, 1);
  sent.uid = 1000;
  sent.flags = kTerminal;
  sent.rows = 24;
  const std::string bytes = encode(sent, {"/home/user", "sh", "-i", "A=b"});
  Request request{};
  const char* strings = nullptr;
  ASSERT_TRUE(decode(bytes.data(), bytes.size(), request, strings));
  EXPECT_EQ(std::memcmp(&request, &sent, sizeof sent), 0);
  EXPECT_EQ(strings, bytes.data() + sizeof request);
  EXPECT_STREQ(strings, "/home/user");
}

TEST(WireTest, EachOperationHasItsNumberOfStrings) {
  const std::vector<std::pair<Op, size_t>> wanted = {{Op::kOpen, 1},    {Op::kMakeDirectory, 1}, {Op::kRemove, 1},
                                                     {Op::kWatch, 1},   {Op::kRename, 2},        {Op::kSignal, 0},
                                                     {Op::kConnect, 0}, {Op::kServeSudo, 0}};
  for (const auto& [op, count] : wanted) {
    for (size_t given = 0; given < 4; ++given) {
      const std::vector<std::string> strings(given, "/x");
      EXPECT_EQ(decodes(encode(request_for(op), strings)), given == count) << static_cast<int>(op) << " " << given;
    }
  }
}

TEST(WireTest, ASpawnNeedsAProgramAndExactlyTheStringsItCounts) {
  EXPECT_FALSE(decodes(encode(request_for(Op::kSpawn, 0, 0), {"/"})));
  EXPECT_FALSE(decodes(encode(request_for(Op::kSpawn, 1, 0), {"/"})));
  EXPECT_TRUE(decodes(encode(request_for(Op::kSpawn, 1, 0), {"/", "true"})));
  EXPECT_FALSE(decodes(encode(request_for(Op::kSpawn, 1, 0), {"/", "true", "extra"})));
  EXPECT_FALSE(decodes(encode(request_for(Op::kSpawn, 1, 2), {"/", "true", "A=b"})));
}

TEST(WireTest, AStringWithoutAnEndIsRefused) {
  std::string bytes = encode(request_for(Op::kOpen), {"/etc"});
  bytes.pop_back();
  EXPECT_FALSE(decodes(bytes));
  EXPECT_FALSE(decodes(bytes + std::string("\0tail", 5)));
}

TEST(WireTest, EmptyStringsAreStrings) {
  EXPECT_TRUE(decodes(encode(request_for(Op::kOpen), {""})));
  EXPECT_TRUE(decodes(encode(request_for(Op::kSpawn, 2), {"", "", ""})));
}

TEST(WireTest, EveryShorterMessageIsRefused) {
  const std::string bytes = encode(request_for(Op::kSpawn, 1), {"/", "true"});
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decodes(bytes.substr(0, size))) << size;
}

TEST(WireTest, CountsThatOverflowOrAreTooLargeAreRefused) {
  EXPECT_FALSE(decodes(encode(request_for(Op::kSpawn, ~0u, 2), {"/", "true"})));
  EXPECT_FALSE(decodes(encode(request_for(Op::kSpawn, 1, ~0u), {"/"})));
  EXPECT_FALSE(decodes(encode(request_for(Op::kSpawn, kMaxStrings + 1), {})));
  const std::vector<std::string> many(kMaxStrings + 1, "x");
  EXPECT_FALSE(decodes(encode(request_for(Op::kSpawn, kMaxStrings), many)));
  const std::vector<std::string> most(kMaxStrings, "x");
  EXPECT_TRUE(decodes(encode(request_for(Op::kSpawn, kMaxStrings - 1), most)));
}

TEST(WireTest, AMessageOverTheLimitIsRefused) {
  const size_t room = kMaxMessage - sizeof(Request) - 1;
  EXPECT_TRUE(decodes(encode(request_for(Op::kOpen), {std::string(room, 'x')})));
  EXPECT_FALSE(decodes(encode(request_for(Op::kOpen), {std::string(room + 1, 'x')})));
}

TEST(WireTest, UnknownOperationsAreRefused) {
  for (const int op : {0, 10, 255, 65535}) EXPECT_FALSE(decodes(encode(request_for(static_cast<Op>(op)), {}))) << op;
}

TEST(WireTest, AReplyArrivesAsItWasSent) {
  Reply sent{};
  sent.id = 3;
  sent.kind = ReplyKind::kExit;
  sent.value = 42;
  sent.status = 9;
  sent.max_rss_kb = 1234;
  Reply reply{};
  ASSERT_TRUE(decode(reinterpret_cast<const char*>(&sent), sizeof sent, reply));
  EXPECT_EQ(reply.value, 42);
  EXPECT_EQ(reply.status, 9);
  EXPECT_EQ(reply.max_rss_kb, 1234u);
}

TEST(WireTest, AReplyOfAnotherSizeOrKindIsRefused) {
  std::vector<char> bytes(sizeof(Reply) + 1);
  Reply reply{};
  EXPECT_FALSE(decode(bytes.data(), sizeof(Reply), reply));  // kind 0
  reply = {};
  reply.kind = ReplyKind::kDone;
  std::memcpy(bytes.data(), &reply, sizeof reply);
  EXPECT_TRUE(decode(bytes.data(), sizeof(Reply), reply));
  EXPECT_FALSE(decode(bytes.data(), sizeof(Reply) - 1, reply));
  EXPECT_FALSE(decode(bytes.data(), sizeof(Reply) + 1, reply));
  EXPECT_FALSE(decode(bytes.data(), 0, reply));
  reply.kind = static_cast<ReplyKind>(4);
  std::memcpy(bytes.data(), &reply, sizeof reply);
  EXPECT_FALSE(decode(bytes.data(), sizeof(Reply), reply));
}

// Both sides send these structures as they lie in memory: a gap would send what was there before.
TEST(WireTest, TheStructuresHaveNoGaps) {
  EXPECT_EQ(sizeof(Request), 4 + 2 * 4 + 4 * 4 + 4 + 4 * 2u);
  EXPECT_EQ(sizeof(Reply), 4 * 4 + 8 * 3u);
}

}  // namespace
}  // namespace bj::ward
