// The head of an HTTP/1.x request as policy needs it, read strictly. Whatever two readers could understand differently
// is refused: two Hosts, a Host that differs from the target, folded lines, bare CR or LF, a space before a colon,
// Content-Length beside Transfer-Encoding, any coding but chunked. That is how requests are smuggled past a gate.
//
// A reader is fed all bytes so far until it stops saying kNeedMore; it remembers how far it has looked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "egress/http_fields.h"
#include "egress/ip_address.h"

namespace bj {

// "example.com:443", "192.0.2.1", "[2001:db8::1]:80": exactly one of name and address is set.
struct Authority {
  std::string name;  // normalized
  std::optional<IpAddress> address;
  std::optional<uint16_t> port;

  std::string host() const { return address ? address->text() : name; }
  bool same_host(const Authority& other) const { return name == other.name && address == other.address; }
};
std::optional<Authority> parse_authority(std::string_view text);

struct HttpHead {
  std::string method;
  std::string target;   // as sent
  std::string path;     // of the target, without query; "*" for OPTIONS *; empty for CONNECT
  Authority authority;  // CONNECT's target, or of an absolute target, or Host
  bool is_connect = false;
  bool is_absolute = false;  // "GET http://host/ HTTP/1.1": spoken to a proxy
  bool is_http_1_0 = false;
  bool is_chunked = false;
  std::optional<uint64_t> content_length;
  std::string upgrade;            // the Upgrade header, lower case: "websocket", "h2c"; empty: none
  bool overrides_method = false;  // X-HTTP-Method-Override and the like: a rule about methods must not let it pass
  bool overrides_path = false;    // X-Original-URL and the like: the same for a rule about paths
  bool keep_alive = true;
  HttpFields fields;      // in order
  size_t size_bytes = 0;  // of the head in the bytes fed, empty line included

  const std::string* field(std::string_view lower_case_name) const;  // the first, or null
};

class HttpHeadReader {
 public:
  enum class Status { kNeedMore, kFound, kNotHttp, kRefused };

  // `bytes`: everything from the start of the request. Not to be called again after another answer than kNeedMore.
  Status read(std::string_view bytes);

  const HttpHead& head() const { return head_; }         // of kFound
  const std::string& reason() const { return reason_; }  // of kNotHttp and kRefused: a sentence

 private:
  Status refuse(std::string reason);

  HttpHeadEnd end_;
  HttpHead head_;
  std::string reason_;
};

}  // namespace bj
