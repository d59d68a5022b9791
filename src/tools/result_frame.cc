#include "tools/result_frame.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "tools/base64.h"
#include "tools/code_points.h"
#include "tools/python_loads.h"
#include "tools/python_text.h"
#include "tools/utf8_error.h"

namespace bj {
namespace {

namespace json = boost::json;

// uuid5 of the DNS namespace and "local-sandbox-result-start-marker".
constexpr char kMarker[] = "\x92\xc8\xe4\x98\x43\xd3\x5f\xb3\x91\x9d\xa6\x9e\xb3\xe5\xc5\xc6";
constexpr size_t kMarkerSize = sizeof kMarker - 1;
constexpr size_t kLengthSize = 4;
constexpr size_t kChecksumSize = 32;

std::string md5_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_md5(), nullptr);
  return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + size, ""));
}

uint32_t read_length(std::string_view bytes) {
  uint32_t length = 0;
  for (size_t i = 0; i < kLengthSize; ++i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return length;
}

std::string replaced(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) append_code_point(text, take_code_point(bytes));
  return text;
}

// The frame at a marker: its payload and what follows it.
struct Cut {
  std::string_view payload;
  std::string_view after;
};
PythonResult<Cut> cut_frame(std::string_view behind_marker) {
  if (behind_marker.size() < kLengthSize) {
    return tl::unexpected(PythonError{"error", "unpack requires a buffer of 4 bytes"});
  }
  const size_t length = read_length(behind_marker);
  const std::string_view rest = behind_marker.substr(kLengthSize);
  const PythonError corrupted{"Exception", "Function ran, but output is corrupted."};
  if (rest.size() < kChecksumSize) return tl::unexpected(corrupted);
  // A length beyond the end means all that is there: the checksum tells whether that is the payload.
  const std::string_view payload = rest.substr(kChecksumSize, length);
  if (payload.size() > kMaxFramePayload || md5_hex(payload) != rest.substr(0, kChecksumSize)) {
    return tl::unexpected(corrupted);
  }
  return Cut{payload, rest.substr(kChecksumSize + payload.size())};
}

bool has_nonce(std::string_view payload, std::string_view nonce) {
  const auto value = python_loads(payload);
  const json::object* object = value ? value->if_object() : nullptr;
  const json::value* found = object == nullptr ? nullptr : object->if_contains("nonce");
  return found != nullptr && found->is_string() && std::string_view(found->get_string()) == nonce;
}

PythonResult<RemoteResult> read_object(json::value value) {
  json::object* object = value.if_object();
  if (object == nullptr) {
    return tl::unexpected(
        PythonError{"AttributeError", fmt::format("'{}' object has no attribute 'get'", python_type_name(value))});
  }
  RemoteResult result;
  if (json::value* results = object->if_contains("results")) result.func_return = std::move(*results);
  if (json::value* state = object->if_contains("agent_state")) result.agent_state = std::move(*state);
  return result;
}

}  // namespace

std::string_view frame_marker() { return {kMarker, kMarkerSize}; }

std::string write_frame(std::string_view payload) {
  std::string frame(frame_marker());
  const auto length = static_cast<uint32_t>(payload.size());
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(length >> shift & 0xff);
  frame += md5_hex(payload);
  frame += payload;
  return frame;
}

PythonResult<FoundFrame> find_frame(std::string_view output, UserText user_text) {
  FoundFrame found;
  std::string user(output);
  if (const size_t at = output.find(frame_marker()); at != output.npos) {
    const auto cut = cut_frame(output.substr(at + kMarkerSize));
    if (!cut) return tl::unexpected(cut.error());
    found.payload = cut->payload;
    user = output.substr(0, at);
    user += cut->after;
  }
  if (user_text == UserText::kStrict) {
    if (auto error = utf8_error(user)) return tl::unexpected(PythonError{"UnicodeDecodeError", *error});
  }
  found.user_stdout = replaced(user);
  return found;
}

FoundFrame find_frame_with_nonce(std::string_view output, std::string_view nonce) {
  FoundFrame found;
  for (size_t at = output.find(frame_marker()); at != output.npos; at = output.find(frame_marker(), at + 1)) {
    const auto cut = cut_frame(output.substr(at + kMarkerSize));
    if (!cut || !has_nonce(cut->payload, nonce)) continue;
    found.payload = cut->payload;
    found.user_stdout = replaced(output.substr(0, at)) + replaced(cut->after);
    return found;
  }
  found.user_stdout = replaced(output);
  return found;
}

PythonResult<RemoteResult> read_payload(std::string_view payload) {
  if (payload.empty()) return RemoteResult{};
  if (auto error = utf8_error(payload)) return tl::unexpected(PythonError{"UnicodeDecodeError", std::move(*error)});
  auto value = python_loads(payload);
  if (!value) return tl::unexpected(PythonError{"JSONDecodeError", value.error().what});
  return read_object(std::move(*value));
}

PythonResult<RemoteResult> read_e2b_text(std::string_view text) {
  const auto decoded = base64_decode(text);
  return read_payload(decoded && !utf8_error(*decoded) ? *decoded : text);
}

PythonResult<RemoteResult> read_typescript_result(std::string_view text) {
  if (text.empty()) return RemoteResult{};
  auto value = python_loads(text);
  if (!value) return RemoteResult{json::value(text), nullptr};
  return read_object(std::move(*value));
}

}  // namespace bj
