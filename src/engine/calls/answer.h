// Frames on a call's channel, and the answer inside: the one place where bytes that a tool's process wrote are read.
// They are hostile: length, depth, UTF-8, numbers, nonce and shape are all checked.
#pragma once

#include <string>
#include <string_view>

#include "engine/calls/call.h"

namespace bj {

inline constexpr size_t kFrameHeader = 5;
enum class FrameType : char { kReady = 'R', kAnswer = 'A', kSealFailed = 'F', kWarmUp = 'W', kCall = 'C' };

std::string encode_frame(FrameType type, std::string_view payload);

struct FrameHeader {
  uint32_t size = 0;
  char type = 0;
};
FrameHeader decode_frame_header(const char* bytes);  // kFrameHeader bytes

// The call as the runtimes read it.
std::string encode_call(const CallSpec& spec, const std::string& nonce);

// What an answer may carry beside its value: nothing, its text, or its text and an agent's state. The rest is ignored.
enum class AnswerKind { kPlain, kLetta, kLettaWithState };
AnswerKind answer_kind(const CallSpec& spec);

// How long an answer's payload may be: each of its parts is at most a return value's size, the rest is bounded.
size_t answer_limit(const CallSpec& spec);

// Fills status, value, error and imports, and what the kind allows. A failure means that the process broke the
// protocol.
Result<void> decode_answer(std::string_view payload, const std::string& nonce, CallResult& result,
                           AnswerKind kind = AnswerKind::kPlain);

// Which limit an errno of the tool's own failure points to ("open files", "disk", ...), empty: none.
std::string limit_of_errno(int error);

}  // namespace bj
