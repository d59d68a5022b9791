#include "egress/client_hello.h"

#include <algorithm>

#include "egress/byte_reader.h"
#include "egress/host_name.h"

namespace bj {
namespace {

constexpr uint8_t kRecordFirst = 20, kRecordAlert = 21, kRecordHandshake = 22, kRecordLast = 24, kClientHello = 1;
constexpr uint16_t kServerName = 0, kAlpn = 16, kEncryptedHello = 0xFE0D;
constexpr size_t kMaxRecord = 16384;  // of plaintext
constexpr size_t kMaxRecords = 32;    // that one hello may be cut into
constexpr size_t kMaxExtensions = 128, kMaxProtocols = 64;

using Status = ClientHello::Status;

ClientHello ended(Status status, std::string reason) { return {status, {}, {}, false, std::move(reason)}; }
ClientHello malformed(std::string reason) { return ended(Status::kMalformed, std::move(reason)); }

// Null, or what is wrong.
const char* read_server_name(std::string_view bytes, std::optional<std::string>& name) {
  ByteReader reader(bytes);
  ByteReader list(reader.take(reader.u16()));
  const uint8_t type = list.u8();
  const std::string_view text = list.take(list.u16());
  if (reader.failed() || list.failed() || !reader.at_end() || type != 0) return "the server name is malformed";
  if (!list.at_end()) return "there is more than one server name";
  if (text.ends_with('.')) return "the server name ends with a dot";
  auto normalized = normalize_host_name(text);
  if (!normalized) return "the server name is no host name";
  name = std::move(*normalized);
  return nullptr;
}

const char* read_alpn(std::string_view bytes, std::vector<std::string>& protocols) {
  ByteReader reader(bytes);
  ByteReader list(reader.take(reader.u16()));
  if (reader.failed() || !reader.at_end() || list.at_end()) return "the list of protocols is malformed";
  while (!list.at_end()) {
    const std::string_view protocol = list.take(list.u8());
    if (list.failed() || protocol.empty() || protocols.size() >= kMaxProtocols)
      return "the list of protocols is malformed";
    protocols.emplace_back(protocol);
  }
  return nullptr;
}

const char* read_extension(uint16_t type, std::string_view bytes, ClientHello& hello) {
  switch (type) {
    case kServerName: return read_server_name(bytes, hello.server_name);
    case kAlpn: return read_alpn(bytes, hello.alpn);
    case kEncryptedHello: hello.encrypted_hello = true; return nullptr;
    default: return nullptr;
  }
}

ClientHello read_extensions(std::string_view bytes) {
  ByteReader reader(bytes);
  ClientHello hello;
  std::vector<uint16_t> seen;
  while (!reader.at_end()) {
    const uint16_t type = reader.u16();
    const std::string_view body = reader.take(reader.u16());
    if (reader.failed()) return malformed("an extension is cut off");
    if (std::find(seen.begin(), seen.end(), type) != seen.end()) return malformed("an extension appears twice");
    if (seen.size() >= kMaxExtensions) return malformed("there are too many extensions");
    seen.push_back(type);
    if (const char* wrong = read_extension(type, body, hello)) return malformed(wrong);
  }
  hello.status = Status::kFound;
  return hello;
}

ClientHello read_hello(std::string_view body) {
  ByteReader reader(body);
  const uint16_t version = reader.u16();
  reader.take(32);  // random
  const uint8_t session = reader.u8();
  reader.take(session);
  const uint16_t ciphers = reader.u16();
  reader.take(ciphers);
  const uint8_t compressions = reader.u8();
  reader.take(compressions);
  if (reader.failed() || session > 32 || ciphers < 2 || ciphers % 2 != 0 || compressions < 1 || version >> 8 != 3)
    return malformed("the hello is malformed");
  if (reader.at_end()) return read_extensions({});
  const std::string_view extensions = reader.take(reader.u16());
  if (reader.failed() || !reader.at_end()) return malformed("the extensions don't fill the hello");
  return read_extensions(extensions);
}

uint8_t byte_at(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

// Of bytes that are no handshake of TLS as we read it: a server may find a hello in them all the same, in which nobody
// here has seen the name. Go's drops alerts that come before it and takes every version below 16; OpenSSL's and Java's
// know the hello of SSL 2, which names no host.
ClientHello read_other_start(std::string_view bytes) {
  const uint8_t type = byte_at(bytes, 0);
  const bool is_record = type >= kRecordFirst && type <= kRecordLast, is_ssl_2 = (type & 0xC0) == 0x80;
  ClientHello other = ended(Status::kNotTls, "the first bytes are no TLS handshake");
  if (!is_record && !is_ssl_2) return other;
  if (bytes.size() < 2) return {};
  if (is_ssl_2) {
    constexpr std::string_view kHello("\1\3");
    const std::string_view behind_length = bytes.substr(2, kHello.size());
    if (!kHello.starts_with(behind_length)) return other;
    return behind_length == kHello ? malformed("a hello in the format of SSL 2 names no host") : ClientHello{};
  }
  if (bytes[1] == 3) return malformed("another record stands before the hello");
  if (byte_at(bytes, 1) >= 16 || (type != kRecordAlert && type != kRecordHandshake)) return other;
  if (bytes.size() < 6) return {};
  const bool is_alert = type == kRecordAlert && bytes.substr(3, 2) == std::string_view("\0\2", 2);
  if (is_alert || (type == kRecordHandshake && byte_at(bytes, 5) == kClientHello))
    return malformed("a TLS record has an unknown version");
  return other;
}

// The handshake's bytes of all records so far, or the end of reading.
struct Collected {
  std::string handshake;
  std::optional<ClientHello> end;
};

Collected collect_records(std::string_view bytes) {
  Collected collected;
  const auto end = [&](ClientHello hello) {
    collected.end = std::move(hello);
    return collected;
  };
  ByteReader reader(bytes);
  for (size_t records = 0; !reader.at_end(); ++records) {
    const std::string_view start = reader.left();
    if (byte_at(start, 0) != kRecordHandshake || (start.size() > 1 && start[1] != 3))
      return end(records == 0 ? read_other_start(start) : malformed("another record stands within the hello"));
    if (records >= kMaxRecords) return end(malformed("the hello is cut into too many records"));
    if (start.size() < 5) break;
    reader.take(3);
    const size_t length = reader.u16();
    if (length == 0 || length > kMaxRecord) return end(malformed("a record has an impossible length"));
    const size_t behind_record = collected.handshake.size() + length;
    collected.handshake += reader.take(std::min(length, reader.left().size()));
    ByteReader handshake(collected.handshake);
    if (handshake.u8() != kClientHello && !handshake.failed())
      return end(malformed("the handshake does not begin with a client's hello"));
    const size_t wanted = handshake.u24() + 4;
    if (handshake.failed()) continue;
    if (wanted > kMaxClientHello) return end(malformed("the hello is too long"));
    if (behind_record > wanted) return end(malformed("something follows the hello in its record"));
    if (collected.handshake.size() == wanted) break;
  }
  return collected;
}

}  // namespace

ClientHello read_client_hello(std::string_view bytes) {
  const Collected collected = collect_records(bytes.substr(0, kMaxClientHello));
  if (collected.end) return *collected.end;
  ByteReader reader(collected.handshake);
  reader.u8();
  const std::string_view body = reader.take(reader.u24());
  if (!reader.failed()) return read_hello(body);
  return bytes.size() >= kMaxClientHello ? malformed("the hello is too long") : ClientHello{};
}

}  // namespace bj
