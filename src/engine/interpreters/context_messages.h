// What a context's process and the engine say to each other: frames of JSON. Those that come from a context are
// hostile: length, depth, UTF-8, numbers, shape are all checked here; whether the nonce is the running execution's is
// for the reader to compare.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "engine/calls/execution.h"

namespace bj {

inline constexpr size_t kMaxContextMessage = 16 << 20;

enum class ContextOp : uint8_t { kReady, kCount, kResult, kError, kDone, kCheckpointed, kRefused };

struct ContextMessage {
  ContextOp op = ContextOp::kDone;
  std::string nonce;  // empty: of no execution
  int pid = 0;        // kReady: its process inside
  int64_t count = 0;
  int64_t status = 0;  // kDone: of a shell's last command
  bool main = false;
  boost::json::object data;
  ExecutionError error;
  std::string reason;  // kRefused
};

Result<ContextMessage> decode_context_message(std::string_view payload);

// Takes frames out of bytes that come in pieces. Memory is taken as bytes arrive; a frame that claims too much, or is
// of another type, is an error that stays.
class ContextFrames {
 public:
  // kInternal: the peer broke the protocol.
  Result<void> feed(std::string_view bytes);
  bool empty() const { return whole_.empty(); }
  std::string next();  // the oldest whole one; not when empty

 private:
  std::string partial_;
  std::deque<std::string> whole_;
};

std::string encode_context_message(const boost::json::object& message);
// What makes a context execute: a frame, or for bash two lines of input.
std::string encode_execution(ContextLanguage language, const Execution& execution, const std::string& nonce);

}  // namespace bj
