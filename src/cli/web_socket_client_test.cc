#include "cli/web_socket_client.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

// As a server sends it: the same without the mask.
std::string from_server(uint8_t first, std::string_view data) {
  std::string text;
  text += static_cast<char>(first);
  if (data.size() < 126) {
    text += static_cast<char>(data.size());
  } else {
    text += static_cast<char>(126);
    text += static_cast<char>(data.size() >> 8);
    text += static_cast<char>(data.size());
  }
  return text.append(data);
}

TEST(WebSocketClientTest, WhatAClientSendsIsMasked) {
  const std::string text = frame_text(FrameKind::kText, "Hello", 0x3d21fa37);  // the bytes of the standard's example
  EXPECT_EQ(text, std::string("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"));
}

TEST(WebSocketClientTest, FramesAreTakenWhenTheyAreWhole) {
  const std::string wire = from_server(0x82, "abc") + from_server(0x81, std::string(300, 'x'));
  std::string arrived;
  std::vector<std::string> found;
  for (const char byte : wire) {
    arrived += byte;
    const auto frame = take_frame(arrived);
    ASSERT_TRUE(frame);
    if (*frame) found.push_back((*frame)->data);
  }
  EXPECT_EQ(found, (std::vector<std::string>{"abc", std::string(300, 'x')}));
  EXPECT_TRUE(arrived.empty());
}

TEST(WebSocketClientTest, WhatWasNotAgreedOnIsRefused) {
  std::string compressed = from_server(0xc2, "abc");
  EXPECT_FALSE(take_frame(compressed));
  std::string huge = "\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff";
  EXPECT_FALSE(take_frame(huge));
}

}  // namespace
}  // namespace bj
