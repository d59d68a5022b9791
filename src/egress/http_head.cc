#include "egress/http_head.h"

#include <algorithm>

namespace bj {
namespace {

constexpr size_t kMaxMethod = 32;

bool is_target_byte(char c) { return c > ' ' && c < 0x7F && c != '#' && c != '"' && c != '<' && c != '>' && c != '\\'; }
bool is_version(std::string_view text) { return text == "HTTP/1.1" || text == "HTTP/1.0"; }

using Complaint = HttpComplaint;

// Could these first bytes become a request line? A method and one space behind it.
Complaint complain_of_start(std::string_view bytes) {
  const size_t space = bytes.substr(0, kMaxMethod + 1).find(' ');
  const std::string_view method = bytes.substr(0, std::min(space, kMaxMethod + 1));
  if (!method.empty() && !is_http_token(method)) return "the first bytes are no HTTP request";
  if (method.size() > kMaxMethod || space == 0) return "the first bytes are no HTTP request";
  if (bytes.starts_with("PRI * HTTP/2")) return "this is HTTP/2, of which no requests are read here";
  return nullptr;
}

Complaint read_absolute_target(std::string_view target, HttpHead& head) {
  static constexpr std::string_view kScheme = "http://";
  if (lower_case(target.substr(0, kScheme.size())) != kScheme)
    return "the target is neither a path nor an http:// address";
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
  if (!head.is_connect && lower_case(head.method) == "connect") return "CONNECT is written in capitals";
  return read_target(head);
}

Complaint check_host(HttpHead& head) {
  Complaint complaint = nullptr;
  const std::string* text = only_http_field(head.fields, "host", complaint, "there is more than one Host");
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
  const std::string* length =
      only_http_field(head.fields, "content-length", complaint, "there is more than one Content-Length");
  const std::string* coding =
      only_http_field(head.fields, "transfer-encoding", complaint, "there is more than one Transfer-Encoding");
  if (complaint != nullptr) return complaint;
  if (length != nullptr && coding != nullptr) return "there are both Content-Length and Transfer-Encoding";
  if (head.is_connect && (length != nullptr || coding != nullptr)) return "CONNECT has no body";
  if (coding != nullptr) {
    if (head.is_http_1_0 || lower_case(*coding) != "chunked")
      return "only chunked is taken as Transfer-Encoding, in HTTP/1.1";
    head.is_chunked = true;
  }
  if (length != nullptr) {
    uint64_t value = 0;
    if (const HttpComplaint wrong = read_content_length(*length, value)) return wrong;
    head.content_length = value;
  }
  return nullptr;
}

// Servers that pass headers on in variables, as CGI does, can't tell "_" from "-".
void note_override(std::string name, HttpHead& head) {
  std::replace(name.begin(), name.end(), '_', '-');
  if (name == "x-http-method-override" || name == "x-http-method" || name == "x-method-override")
    head.overrides_method = true;
  if (name == "x-original-url" || name == "x-rewrite-url") head.overrides_path = true;
}

Complaint check_connection(HttpHead& head) {
  Complaint complaint = nullptr;
  if (const std::string* upgrade = only_http_field(head.fields, "upgrade", complaint, "there is more than one Upgrade"))
    head.upgrade = lower_case(*upgrade);
  head.keep_alive = !head.is_http_1_0;
  for (const HttpField& field : head.fields) {
    note_override(field.name, head);
    if (field.name != "connection") continue;
    for (const std::string& token : http_list(field.value)) {
      if (token == "close") head.keep_alive = false;
      if (token == "keep-alive" && head.is_http_1_0) head.keep_alive = true;
      if (token == "host" || token == "content-length" || token == "transfer-encoding")
        return "Connection would take away a header that the request needs";
    }
  }
  return complaint;
}

Complaint read_head(std::string_view bytes, HttpHead& head) {
  const size_t end = bytes.find("\r\n");
  const std::string_view line = bytes.substr(0, end);
  if (line.find('\r') != line.npos) return "there is a CR that ends no line";
  if (Complaint complaint = read_request_line(line, head)) return complaint;
  if (Complaint complaint = read_http_fields(bytes.substr(end + 2), head.fields)) return complaint;
  if (Complaint complaint = check_host(head)) return complaint;
  if (Complaint complaint = check_length(head)) return complaint;
  return check_connection(head);
}

}  // namespace

const std::string* HttpHead::field(std::string_view lower_case_name) const {
  return find_http_field(fields, lower_case_name);
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
  if (!end_.has_line()) {
    const size_t feed = bytes.substr(0, kMaxHttpHead).find('\n');
    if (feed != bytes.npos && bytes.substr(0, feed).find("HTTP/") == bytes.npos) {
      reason_ = "the first line is no HTTP request";
      return Status::kNotHttp;
    }
  }
  switch (end_.look(bytes)) {
    case HttpHeadEnd::Status::kNeedMore: return Status::kNeedMore;
    case HttpHeadEnd::Status::kBareLineFeed: return refuse("a line ends without CR");
    case HttpHeadEnd::Status::kTooLong: return refuse("the head is too long");
    case HttpHeadEnd::Status::kFound: break;
  }
  head_.size_bytes = end_.size();
  if (const char* complaint = read_head(bytes.substr(0, end_.size()), head_)) return refuse(complaint);
  return Status::kFound;
}

}  // namespace bj
