#include "egress/http_head.h"

#include <algorithm>
#include <charconv>

namespace bj {
namespace {

constexpr size_t kMaxMethod = 32;

bool is_token_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}
bool is_token(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_token_byte); }
bool is_target_byte(char c) { return c > ' ' && c < 0x7F && c != '#' && c != '"' && c != '<' && c != '>' && c != '\\'; }
// char is signed: what is not ASCII is negative, and allowed.
bool is_value_byte(char c) { return c >= ' ' ? c != 0x7F : c < 0 || c == '\t'; }

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lowered;
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string> tokens_of(std::string_view list) {
  std::vector<std::string> tokens;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view token = trimmed(list.substr(begin, end - begin));
    if (!token.empty()) tokens.push_back(lower(token));
    begin = end + 1;
  }
  return tokens;
}

bool is_version(std::string_view text) { return text == "HTTP/1.1" || text == "HTTP/1.0"; }

using Complaint = const char*;  // null: none

// Could these first bytes become a request line? A method and one space behind it.
Complaint complain_of_start(std::string_view bytes) {
  const size_t space = bytes.substr(0, kMaxMethod + 1).find(' ');
  const std::string_view method = bytes.substr(0, std::min(space, kMaxMethod + 1));
  if (!method.empty() && !is_token(method)) return "the first bytes are no HTTP request";
  if (method.size() > kMaxMethod || space == 0) return "the first bytes are no HTTP request";
  if (bytes.starts_with("PRI * HTTP/2")) return "this is HTTP/2, of which no requests are read here";
  return nullptr;
}

Complaint read_absolute_target(std::string_view target, HttpHead& head) {
  static constexpr std::string_view kScheme = "http://";
  if (lower(target.substr(0, kScheme.size())) != kScheme) return "the target is neither a path nor an http:// address";
  target.remove_prefix(kScheme.size());
  const size_t end = std::min(target.find_first_of("/?"), target.size());
  const auto authority = parse_authority(target.substr(0, end));
  if (!authority) return "the target's host is malformed";
  head.authority = *authority;
  head.is_absolute = true;
  target = target.substr(end);
  head.path = target.starts_with('/') ? std::string(target.substr(0, target.find('?'))) : "/";
  return nullptr;
}

Complaint read_target(HttpHead& head) {
  const std::string_view target = head.target;
  if (target.empty() || !std::all_of(target.begin(), target.end(), is_target_byte))
    return "the target has a character that must be escaped";
  if (head.is_connect) {
    const auto authority = parse_authority(target);
    if (!authority || !authority->port) return "CONNECT needs host:port";
    head.authority = *authority;
    return nullptr;
  }
  if (target == "*") {
    head.path = "*";
    return head.method == "OPTIONS" ? nullptr : "only OPTIONS may have the target *";
  }
  if (!target.starts_with('/')) return read_absolute_target(target, head);
  head.path = target.substr(0, target.find('?'));
  return nullptr;
}

Complaint read_request_line(std::string_view line, HttpHead& head) {
  const size_t first = line.find(' ');
  const size_t second = first == line.npos ? line.npos : line.find(' ', first + 1);
  if (second == line.npos || line.find(' ', second + 1) != line.npos)
    return "the request line is not method, target and version with single spaces";
  head.method = line.substr(0, first);
  head.target = line.substr(first + 1, second - first - 1);
  const std::string_view version = line.substr(second + 1);
  if (!is_version(version)) return "only HTTP/1.0 and HTTP/1.1 are read here";
  head.is_http_1_0 = version == "HTTP/1.0";
  head.is_connect = head.method == "CONNECT";
  if (!head.is_connect && lower(head.method) == "connect") return "CONNECT is written in capitals";
  return read_target(head);
}

Complaint read_field(std::string_view line, HttpHead& head) {
  if (line.starts_with(' ') || line.starts_with('\t')) return "a header line is folded";
  const size_t colon = line.find(':');
  if (colon == line.npos || !is_token(line.substr(0, colon))) return "a header's name is malformed";
  if (!std::all_of(line.begin(), line.end(), is_value_byte)) return "a header has a control character";
  if (head.fields.size() >= kMaxHttpFields) return "there are too many headers";
  HttpField field{lower(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1)))};
  std::string dashed = field.name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  if (dashed != field.name && (dashed == "content-length" || dashed == "transfer-encoding"))
    return "a header differs from one about length only by an underscore";
  head.fields.push_back(std::move(field));
  return nullptr;
}

// The only one of that name; null if there is none. Several: `complaint` is set.
const std::string* only(const HttpHead& head, std::string_view name, Complaint& complaint, Complaint if_several) {
  const std::string* found = nullptr;
  for (const HttpField& field : head.fields) {
    if (field.name != name) continue;
    if (found != nullptr) complaint = if_several;
    found = &field.value;
  }
  return found;
}

Complaint check_host(HttpHead& head) {
  Complaint complaint = nullptr;
  const std::string* text = only(head, "host", complaint, "there is more than one Host");
  if (complaint != nullptr) return complaint;
  if (text == nullptr) {
    if (head.is_connect || (head.is_absolute && head.is_http_1_0)) return nullptr;
    return "there is no Host";
  }
  const auto host = parse_authority(*text);
  if (!host) return "the Host is malformed";
  if (!head.is_connect && !head.is_absolute) {
    head.authority = *host;
    return nullptr;
  }
  if (!head.authority.same_host(*host)) return "the Host differs from the target";
  const uint16_t usual = head.is_connect ? *head.authority.port : 80;
  if (head.authority.port.value_or(usual) != host->port.value_or(usual))
    return "the Host's port differs from the target's";
  return nullptr;
}

Complaint check_length(HttpHead& head) {
  Complaint complaint = nullptr;
  const std::string* length = only(head, "content-length", complaint, "there is more than one Content-Length");
  const std::string* coding = only(head, "transfer-encoding", complaint, "there is more than one Transfer-Encoding");
  if (complaint != nullptr) return complaint;
  if (length != nullptr && coding != nullptr) return "there are both Content-Length and Transfer-Encoding";
  if (head.is_connect && (length != nullptr || coding != nullptr)) return "CONNECT has no body";
  if (coding != nullptr) {
    if (head.is_http_1_0 || lower(*coding) != "chunked")
      return "only chunked is taken as Transfer-Encoding, in HTTP/1.1";
    head.is_chunked = true;
  }
  if (length != nullptr) {
    uint64_t value = 0;
    const char* end = length->data() + length->size();
    const auto [stop, error] = std::from_chars(length->data(), end, value);
    if (length->empty() || length->size() > 18 || error != std::errc() || stop != end)
      return "the Content-Length is no number";
    head.content_length = value;
  }
  return nullptr;
}

Complaint check_connection(HttpHead& head) {
  Complaint complaint = nullptr;
  if (const std::string* upgrade = only(head, "upgrade", complaint, "there is more than one Upgrade"))
    head.upgrade = lower(*upgrade);
  head.keep_alive = !head.is_http_1_0;
  for (const HttpField& field : head.fields) {
    if (field.name == "x-http-method-override" || field.name == "x-http-method" || field.name == "x-method-override")
      head.overrides_method = true;
    if (field.name != "connection") continue;
    for (const std::string& token : tokens_of(field.value)) {
      if (token == "close") head.keep_alive = false;
      if (token == "keep-alive" && head.is_http_1_0) head.keep_alive = true;
      if (token == "host" || token == "content-length" || token == "transfer-encoding")
        return "Connection would take away a header that the request needs";
    }
  }
  return complaint;
}

Complaint read_head(std::string_view bytes, HttpHead& head) {
  for (size_t begin = 0; true;) {
    const size_t end = bytes.find("\r\n", begin);
    const std::string_view line = bytes.substr(begin, end - begin);
    if (line.empty()) break;
    if (line.find('\r') != line.npos) return "there is a CR that ends no line";
    if (Complaint complaint = begin == 0 ? read_request_line(line, head) : read_field(line, head)) return complaint;
    begin = end + 2;
  }
  if (Complaint complaint = check_host(head)) return complaint;
  if (Complaint complaint = check_length(head)) return complaint;
  return check_connection(head);
}

}  // namespace

const std::string* HttpHead::field(std::string_view lower_case_name) const {
  for (const HttpField& one : fields) {
    if (one.name == lower_case_name) return &one.value;
  }
  return nullptr;
}

HttpHeadReader::Status HttpHeadReader::refuse(std::string reason) {
  reason_ = std::move(reason);
  return Status::kRefused;
}

HttpHeadReader::Status HttpHeadReader::read(std::string_view bytes) {
  if (const char* complaint = complain_of_start(bytes)) {
    reason_ = complaint;
    return Status::kNotHttp;
  }
  const std::string_view looked_at = bytes.substr(0, kMaxHttpHead);
  for (size_t feed = 0; (feed = looked_at.find('\n', searched_)) != looked_at.npos; searched_ = feed + 1) {
    const std::string_view line = looked_at.substr(line_begin_, feed - line_begin_);
    if (line_begin_ == 0 && line.find("HTTP/") == line.npos) {
      reason_ = "the first line is no HTTP request";
      return Status::kNotHttp;
    }
    if (!line.ends_with('\r')) return refuse("a line ends without CR");
    line_begin_ = feed + 1;
    if (line.size() > 1) continue;
    head_.size_bytes = line_begin_;
    if (const char* complaint = read_head(looked_at.substr(0, line_begin_), head_)) return refuse(complaint);
    return Status::kFound;
  }
  searched_ = looked_at.size();
  return bytes.size() >= kMaxHttpHead ? refuse("the head is too long") : Status::kNeedMore;
}

}  // namespace bj
