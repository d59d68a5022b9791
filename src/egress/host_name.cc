#include "egress/host_name.h"

#include <algorithm>

namespace bj {
namespace {

constexpr size_t kMaxName = 253;
constexpr size_t kMaxLabel = 63;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Why this byte can't be in a name; null if it can.
const char* complaint_about(char c) {
  if ((c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_' || c == '.') return nullptr;
  if (static_cast<unsigned char>(c) >= 0x80) return "it is not ASCII: write the name in its xn-- form";
  switch (c) {
    case '@': return "it has a user in it: write only the host";
    case ':': return "it has a colon: a port is said apart, and an IPv6 address is no name";
    case '%': return "it has a percent sign: zones and escapes are not taken";
    case '/': return "it has a slash: write the host without scheme and path";
    case '*': return "it has a \"*\": that stands only in front, as in *.example.com";
    case '[':
    case ']': return "it has brackets: an address is no name";
    default:
      return static_cast<unsigned char>(c) <= ' ' || c == 0x7F ? "it has a space or a control character"
                                                               : "it has a character that no host name has";
  }
}

const char* complaint_about_label(std::string_view label) {
  if (label.empty()) return "it has an empty part between its dots";
  if (label.size() > kMaxLabel) return "a part of it is longer than 63 bytes";
  if (label.front() == '-' || label.back() == '-') return "a part of it begins or ends with a hyphen";
  return nullptr;
}

const char* complaint_about_name(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > kMaxName) return "it is longer than 253 bytes";
  for (const char c : name) {
    if (const char* complaint = complaint_about(c)) return complaint;
  }
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    if (const char* complaint = complaint_about_label(name.substr(begin, end - begin))) return complaint;
    begin = end + 1;
  }
  if (looks_like_address(name)) return "it would be read as an address: its last part is a number";
  return nullptr;
}

// For a message: bounded, and without bytes that would change the line it is written to.
std::string shown(std::string_view text) {
  std::string safe;
  for (const char c : text.substr(0, 80)) safe += c > ' ' && c < 0x7F && c != '"' ? c : '?';
  return safe;
}

}  // namespace

bool looks_like_address(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  const size_t dot = text.rfind('.');
  const std::string_view last = dot == text.npos ? text : text.substr(dot + 1);
  if (last.empty()) return false;
  if (last.size() >= 2 && last[0] == '0' && (last[1] == 'x' || last[1] == 'X'))
    return std::all_of(last.begin() + 2, last.end(), is_hex);
  return std::all_of(last.begin(), last.end(), is_digit);
}

Result<std::string> normalize_host_name(std::string_view text) {
  std::string name(text.substr(0, kMaxName + 2));
  if (name.ends_with('.')) name.pop_back();
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (const char* complaint = complaint_about_name(name))
    return fail(Code::kInvalid, "\"" + shown(text) + "\" is no host name: " + complaint);
  return name;
}

bool is_below(std::string_view name, std::string_view suffix) {
  return name.size() > suffix.size() + 1 && name.ends_with(suffix) && name[name.size() - suffix.size() - 1] == '.';
}

}  // namespace bj
