#include "egress/proxy_request.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "egress/socks5.h"
#include "launcher/gate_control.h"
#include "sys/bytes.h"

namespace bj {
namespace {

constexpr auto kPatience = std::chrono::seconds(15);
constexpr uint16_t kHttpPort = 80;

std::string printable(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

bool is_for_one_hop(const std::string& name) {
  static constexpr std::array<std::string_view, 6> kNames = {"connection", "proxy-connection",    "keep-alive",
                                                             "upgrade",    "proxy-authorization", "te"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// "http://host/path?query" -> "/path?query"
std::string origin_form(const HttpHead& head) {
  if (!head.is_absolute) return head.target;
  const size_t path = head.target.find_first_of("/?", head.target.find("://") + 3);
  std::string target = path == std::string::npos ? "/" : head.target.substr(path);
  if (target.front() == '?') target.insert(0, 1, '/');
  return target;
}

Task<Result<ProxyRequest>> read_http(std::shared_ptr<Flow> flow) {
  HttpHeadReader reader;
  HttpHeadReader::Status status = HttpHeadReader::Status::kNeedMore;
  const auto enough = [&](std::string_view bytes) {
    status = reader.read(bytes);
    return status != HttpHeadReader::Status::kNeedMore;
  };
  std::string bytes;
  (void)co_await flow->peek(bytes, kMaxHttpHead, Clock::now() + kPatience, enough);
  if (status == HttpHeadReader::Status::kRefused) {
    take(*flow, bytes.size());  // what is left unread would become a reset, which overtakes the answer
    (void)co_await flow->tell_client(http_refusal("400 Bad Request", reader.reason()));
  }
  if (status != HttpHeadReader::Status::kFound) co_return fail(Code::kInvalid, "no proxy request: " + reader.reason());
  const HttpHead& head = reader.head();
  if (!head.is_connect && !head.is_absolute) co_return fail(Code::kInvalid, "connected to the gate itself");
  if (head.is_connect && !head.authority.port) co_return fail(Code::kInvalid, "CONNECT without a port");
  if (head.is_absolute && !head.target.starts_with("http://")) {
    co_return fail(Code::kInvalid, "a request to the proxy that is neither CONNECT nor plain HTTP");
  }
  ProxyRequest request;
  request.kind = head.is_connect ? ProxyRequest::Kind::kConnect : ProxyRequest::Kind::kAbsolute;
  request.name = head.authority.name;
  request.address = head.authority.address;
  request.port = head.authority.port.value_or(kHttpPort);
  request.head = head;
  take(*flow, head.size_bytes);
  co_return request;
}

Task<Result<ProxyRequest>> read_socks(std::shared_ptr<Flow> flow) {
  Socks5Greeting greeting;
  const auto greeted = [&](std::string_view bytes) {
    greeting = read_socks5_greeting(bytes);
    return greeting.status != Socks5Status::kNeedMore;
  };
  std::string bytes;
  (void)co_await flow->peek(bytes, kMaxSocks5Message, Clock::now() + kPatience, greeted);
  (void)co_await flow->tell_client(greeting.answer);
  if (greeting.status != Socks5Status::kFound) co_return fail(Code::kInvalid, "no SOCKS5: " + greeting.reason);
  take(*flow, greeting.used);

  Socks5Request asked;
  const auto complete = [&](std::string_view text) {
    asked = read_socks5_request(text);
    return asked.status != Socks5Status::kNeedMore;
  };
  (void)co_await flow->peek(bytes, kMaxSocks5Message, Clock::now() + kPatience, complete);
  if (asked.status != Socks5Status::kFound) {
    (void)co_await flow->tell_client(asked.answer);
    co_return fail(Code::kInvalid, "no SOCKS5: " + asked.reason);
  }
  take(*flow, asked.used);
  ProxyRequest request;
  request.kind = ProxyRequest::Kind::kSocks;
  request.name = asked.name;
  request.address = asked.address;
  request.port = asked.port;
  co_return request;
}

}  // namespace

std::string http_refusal(const char* status, const std::string& reason) {
  const std::string body = printable(reason) + "\n";
  return std::string("HTTP/1.1 ") + status +
         "\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

void take(Flow& flow, size_t size) {
  std::string gone(size, '\0');
  (void)receive_some(flow.client().native_handle(), gone.data(), gone.size(), MSG_DONTWAIT);
}

std::optional<std::string> single_request(const HttpHead& head) {
  const bool single = gate_keeps(GateControl::kSingle);
  if (single && (head.is_chunked || head.is_connect || !head.upgrade.empty())) return {};
  std::string out = head.method + " " + origin_form(head) + " HTTP/1.1\r\n";
  for (const HttpField& field : head.fields) {
    if (!single || !is_for_one_hop(field.name)) out += field.name + ": " + field.value + "\r\n";
  }
  return out + (single ? "connection: close\r\n\r\n" : "\r\n");
}

Task<Result<ProxyRequest>> read_proxy_request(std::shared_ptr<Flow> flow) {
  std::string first;
  (void)co_await flow->peek(first, 1, Clock::now() + kPatience, [](std::string_view) { return true; });
  if (first.empty()) co_return fail(Code::kInvalid, "connected to the gate itself");
  if (first.front() == '\x05') co_return co_await read_socks(flow);
  co_return co_await read_http(flow);
}

std::string proxy_answer(const ProxyRequest& request, ProxyOutcome outcome, const std::string& reason) {
  if (request.kind == ProxyRequest::Kind::kSocks) {
    switch (outcome) {
      case ProxyOutcome::kConnected: return socks5_reply(Socks5Reply::kSucceeded);
      case ProxyOutcome::kDenied: return socks5_reply(Socks5Reply::kNotAllowed);
      case ProxyOutcome::kFailed: return socks5_reply(Socks5Reply::kHostUnreachable);
    }
  }
  switch (outcome) {
    case ProxyOutcome::kConnected:
      return request.kind == ProxyRequest::Kind::kConnect ? "HTTP/1.1 200 Connection established\r\n\r\n" : "";
    case ProxyOutcome::kDenied: return http_refusal("403 Forbidden", reason);
    case ProxyOutcome::kFailed: return http_refusal("502 Bad Gateway", reason);
  }
  return {};
}

}  // namespace bj
