// The result of a call inside a process's stdout, as Letta's scripts write it: 16 marker bytes, the payload's length
// (32 bits, big-endian), its MD5 in hexadecimal, the payload. Only remote providers are read this way, because there is
// no second descriptor there; a tool can write such a frame itself, so our scripts put a nonce into the payload, and
// with one given only a frame that has it counts.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tools/friendly_error.h"

namespace bj {

inline constexpr size_t kMaxFramePayload = 64 * 1024 * 1024;

std::string_view frame_marker();
std::string write_frame(std::string_view payload);

struct FoundFrame {
  std::string payload;      // empty: there was no frame
  std::string user_stdout;  // everything else
};
template <class T>
using PythonResult = tl::expected<T, PythonError>;

// kStrict fails on user output that is no UTF-8, with Python's words; kReplace puts U+FFFD and keeps the result.
enum class UserText { kStrict, kReplace };
PythonResult<FoundFrame> find_frame(std::string_view output, UserText user_text);
// The frame whose payload is an object with this nonce; others are user output. None: an empty payload.
FoundFrame find_frame_with_nonce(std::string_view output, std::string_view nonce);

// What a payload, or the last expression of a remote cell, says.
struct RemoteResult {
  boost::json::value func_return;
  boost::json::value agent_state;
};
PythonResult<RemoteResult> read_payload(std::string_view payload);         // JSON; empty: null and null
PythonResult<RemoteResult> read_e2b_text(std::string_view text);           // base64 of it, or itself
PythonResult<RemoteResult> read_typescript_result(std::string_view text);  // JSON, or any other text as it is

}  // namespace bj
