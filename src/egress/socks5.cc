#include "egress/socks5.h"

#include "egress/byte_reader.h"
#include "egress/host_name.h"

namespace bj {
namespace {

constexpr uint8_t kVersion = 5, kConnect = 1, kV4 = 1, kName = 3, kV6 = 4;

Socks5Request refused(Socks5Reply reply, std::string reason) {
  Socks5Request request;
  request.status = Socks5Status::kRefused;
  request.answer = socks5_reply(reply);
  request.reason = std::move(reason);
  return request;
}

IpAddress v6_of(std::string_view bytes) {
  std::array<uint8_t, 16> array{};
  for (size_t i = 0; i < bytes.size(); ++i) array[i] = static_cast<uint8_t>(bytes[i]);
  return IpAddress::v6(array);
}

IpAddress v4_of(std::string_view bytes) {
  uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return IpAddress::v4(value);
}

// False: it is neither a name nor an address.
bool put_host(uint8_t type, std::string_view host, Socks5Request& request) {
  if (type == kV4) request.address = v4_of(host);
  if (type == kV6) request.address = v6_of(host);
  if (type != kName) return true;
  request.address = IpAddress::parse(host);
  if (request.address) return true;
  auto name = normalize_host_name(host);
  if (!name) return false;
  request.name = std::move(*name);
  return true;
}

}  // namespace

Socks5Greeting read_socks5_greeting(std::string_view bytes) {
  Socks5Greeting greeting;
  ByteReader reader(bytes);
  const uint8_t version = reader.u8();
  if (!reader.failed() && version != kVersion) {
    greeting.status = Socks5Status::kRefused;
    greeting.reason = "this is not SOCKS5";
    return greeting;
  }
  const std::string_view methods = reader.take(reader.u8());
  if (reader.failed()) return greeting;
  const bool fits = methods.find('\0') != methods.npos;
  greeting.status = fits ? Socks5Status::kFound : Socks5Status::kRefused;
  greeting.used = bytes.size() - reader.left().size();
  greeting.answer = {static_cast<char>(kVersion), fits ? '\0' : '\xFF'};
  if (!fits) greeting.reason = "the client does not offer to go without authentication";
  return greeting;
}

Socks5Request read_socks5_request(std::string_view bytes) {
  Socks5Request request;
  ByteReader reader(bytes);
  const uint8_t version = reader.u8(), command = reader.u8(), reserved = reader.u8(), type = reader.u8();
  if (reader.failed()) return request;
  if (version != kVersion || reserved != 0) return refused(Socks5Reply::kFailure, "this is no request of SOCKS5");
  if (command != kConnect) return refused(Socks5Reply::kCommandNotSupported, "only CONNECT is offered");
  if (type != kV4 && type != kName && type != kV6)
    return refused(Socks5Reply::kAddressTypeNotSupported, "an unknown kind of address");
  const std::string_view host = reader.take(type == kV4 ? 4 : type == kV6 ? 16 : reader.u8());
  request.port = reader.u16();
  if (reader.failed()) return Socks5Request{};
  if (!put_host(type, host, request)) return refused(Socks5Reply::kNotAllowed, "the host is neither name nor address");
  if (request.port == 0) return refused(Socks5Reply::kNotAllowed, "there is no port 0");
  request.status = Socks5Status::kFound;
  request.used = bytes.size() - reader.left().size();
  return request;
}

std::string socks5_reply(Socks5Reply reply) {
  std::string bytes(10, '\0');
  bytes[0] = static_cast<char>(kVersion);
  bytes[1] = static_cast<char>(reply);
  bytes[3] = static_cast<char>(kV4);
  return bytes;
}

}  // namespace bj
