#include "egress/first_bytes.h"

#include "launcher/gate_control.h"

namespace bj {
namespace {

FirstBytes of_tls(ClientHello hello) {
  FirstBytes out;
  out.kind = FirstBytes::Kind::kTls;
  out.name = std::move(hello.server_name);
  out.encrypted_hello = hello.encrypted_hello;
  return out;
}

FirstBytes refused(std::string reason) {
  FirstBytes out;
  out.kind = FirstBytes::Kind::kRefused;
  out.reason = std::move(reason);
  return out;
}

FirstBytes of_kind(FirstBytes::Kind kind) {
  FirstBytes out;
  out.kind = kind;
  return out;
}

}  // namespace

FirstBytes first_bytes_of(HttpHead head) {
  FirstBytes out = of_kind(FirstBytes::Kind::kHttp);
  if (!head.authority.name.empty()) out.name = head.authority.name;
  out.head = std::move(head);
  return out;
}

FirstBytes read_first_bytes(std::string_view bytes) {
  ClientHello hello = read_client_hello(bytes);
  switch (hello.status) {
    case ClientHello::Status::kNeedMore: return {};
    case ClientHello::Status::kFound: return of_tls(std::move(hello));
    case ClientHello::Status::kMalformed: return refused(hello.reason);
    case ClientHello::Status::kNotTls: break;
  }
  HttpHeadReader reader;
  switch (reader.read(bytes)) {
    case HttpHeadReader::Status::kNeedMore: return {};
    case HttpHeadReader::Status::kNotHttp: return of_kind(FirstBytes::Kind::kOther);
    case HttpHeadReader::Status::kRefused: return refused(reader.reason());
    case HttpHeadReader::Status::kFound: break;
  }
  return first_bytes_of(reader.head());
}

bool may_be_a_whole_message(std::string_view bytes) {
  return read_client_hello(bytes).status == ClientHello::Status::kNotTls && bytes.find('\n') == bytes.npos;
}

std::optional<std::string> contradiction(const FirstBytes& bytes, const std::string& name) {
  if (!gate_keeps(GateControl::kHello)) return {};
  switch (bytes.kind) {
    case FirstBytes::Kind::kNeedMore: return "the first bytes are incomplete";
    case FirstBytes::Kind::kRefused: return bytes.reason;
    case FirstBytes::Kind::kOther: return {};
    case FirstBytes::Kind::kTls:
      if (bytes.encrypted_hello) return "the name in the TLS hello is encrypted";
      if (!bytes.name) return "the TLS hello names no host";
      break;
    case FirstBytes::Kind::kHttp:
      if (bytes.head.is_connect) return "CONNECT was sent to a server that is no proxy of ours";
      break;
  }
  if (bytes.name == name) return {};
  return "the connection is to " + name + " but asks for " +
         bytes.name.value_or(bytes.kind == FirstBytes::Kind::kHttp ? bytes.head.authority.host() : "nothing");
}

bool FirstLine::may_pass(std::string_view bytes) {
  // White space of ISO 8859-1 too: Python's servers split a line at it.
  constexpr std::string_view kBlank = " \t\v\f\r\x1c\x1d\x1e\x1f\x85\xa0", kVersion = "http/", kHttp2 = "pri * http/";
  if (!gate_keeps(GateControl::kHello)) return true;
  for (const char c : bytes) {
    if (is_over_) return true;
    const bool is_blank = kBlank.find(c) != kBlank.npos;
    if (size_ == 0 && (is_blank || c == '\n')) continue;
    has_word_ = has_word_ || is_blank;
    // No server knows a method with such characters; in a path some take them. char is signed: not ASCII is one, too.
    is_over_ = c == '\n' || (!has_word_ && (c < ' ' || c == 0x7F));
    end_ += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (end_.size() > kHttp2.size()) end_.erase(0, 1);
    ++size_;
    if (!end_.ends_with(kVersion)) continue;
    if (size_ != kHttp2.size() || end_ != kHttp2) return false;
    is_over_ = true;
  }
  return true;
}

}  // namespace bj
