#include "egress/dns_message.h"

#include <algorithm>

#include "egress/byte_reader.h"

namespace bj {
namespace {

constexpr size_t kHeader = 12;
constexpr uint16_t kTypeOpt = 41, kTypeAxfr = 252, kTypeIxfr = 251, kClassAny = 255;
constexpr uint16_t kIsAnswer = 0x8000, kTruncated = 0x0200, kRecursionDesired = 0x0100, kRecursionAvailable = 0x0080,
                   kCheckingDisabled = 0x0010;
constexpr uint16_t kBadVersion = 16;
constexpr size_t kMaxNameWire = 255;
constexpr size_t kMaxRecords = 8;  // beside the question; a query has at most OPT and a signature

struct Header {
  uint16_t id = 0, flags = 0, questions = 0, answers = 0, authorities = 0, additionals = 0;
  unsigned opcode() const { return flags >> 11 & 0xF; }
};

void put16(std::string& out, unsigned value) { out += {static_cast<char>(value >> 8), static_cast<char>(value)}; }
void put32(std::string& out, uint32_t value) {
  put16(out, value >> 16);
  put16(out, value & 0xFFFF);
}

std::string header_of(uint16_t id, unsigned flags, unsigned questions, unsigned answers, unsigned additionals) {
  std::string out;
  for (const unsigned value : {unsigned{id}, flags, questions, answers, 0u, additionals}) put16(out, value);
  return out;
}

unsigned flags_of_answer(bool recursion_desired, bool checking_disabled, unsigned code) {
  return kIsAnswer | kRecursionAvailable | (recursion_desired ? kRecursionDesired : 0u) |
         (checking_disabled ? kCheckingDisabled : 0u) | (code & 0xF);
}

void put_opt(std::string& out, bool dnssec_ok, unsigned code) {
  out += '\0';
  put16(out, kTypeOpt);
  put16(out, dns::kUdpSize);
  put32(out, (code >> 4) << 24 | (dnssec_ok ? 0x8000u : 0u));
  put16(out, 0);
}

// A name that is spelled out. A query's own names have nothing before them to point at, so pointers are refused: no
// loops, no overlaps. Wants `wire` to hold it as it stands; false: malformed.
bool read_name(ByteReader& reader, std::string& wire, std::string* text) {
  while (true) {
    const uint8_t length = reader.u8();
    const std::string_view label = reader.take(length);
    if (reader.failed() || length > 63) return false;
    wire += static_cast<char>(length);
    wire += label;
    if (wire.size() > kMaxNameWire) return false;
    if (length == 0) return true;
    if (label.find('\0') != label.npos || label.find('.') != label.npos) return false;  // would read as another name
    if (text != nullptr) *text += (text->empty() ? "" : ".") + std::string(label);
  }
}

DnsReading fault(const Header& header, DnsCode code, std::string reason) {
  DnsReading reading;
  reading.status = DnsReading::Status::kFault;
  const unsigned opcode = header.flags & 0x7800u;
  reading.fault = header_of(
      header.id, flags_of_answer(header.flags & kRecursionDesired, false, static_cast<unsigned>(code)) | opcode, 0, 0,
      0);
  reading.reason = std::move(reason);
  return reading;
}

// The name of a record in the additional section: spelled out, or a pointer, which is skipped and never followed.
bool skip_record_name(ByteReader& reader, bool& is_root) {
  is_root = !reader.at_end() && reader.left()[0] == '\0';
  if (!reader.at_end() && static_cast<uint8_t>(reader.left()[0]) >= 0xC0) {
    reader.take(2);
    return !reader.failed();
  }
  std::string wire;
  return read_name(reader, wire, nullptr);
}

// Null, or what is wrong.
const char* read_additionals(ByteReader& reader, unsigned count, std::optional<DnsEdns>& edns) {
  for (unsigned i = 0; i < count; ++i) {
    bool is_root = false;
    if (!skip_record_name(reader, is_root)) return "an additional record's name is malformed";
    const uint16_t type = reader.u16(), klass = reader.u16();
    const uint8_t code = reader.u8(), version = reader.u8();
    const uint16_t flags = reader.u16();
    reader.take(reader.u16());
    if (reader.failed()) return "an additional record is cut off";
    if (type != kTypeOpt) continue;
    if (edns || !is_root || code != 0) return "the OPT record is malformed or there are two";
    edns = DnsEdns{std::max<uint16_t>(klass, 512), version, (flags & 0x8000) != 0};
  }
  return nullptr;
}

DnsReading read_body(const Header& header, ByteReader& reader) {
  DnsReading reading;
  DnsQuery& query = reading.query;
  query.id = header.id;
  query.recursion_desired = header.flags & kRecursionDesired;
  query.checking_disabled = header.flags & kCheckingDisabled;
  if (!read_name(reader, query.question, &query.name)) return fault(header, DnsCode::kFormErr, "the name is malformed");
  query.type = reader.u16();
  query.klass = reader.u16();
  if (reader.failed()) return fault(header, DnsCode::kFormErr, "the question is cut off");
  put16(query.question, query.type);
  put16(query.question, query.klass);
  if (const char* wrong = read_additionals(reader, header.additionals, query.edns))
    return fault(header, DnsCode::kFormErr, wrong);
  if (!reader.at_end()) return fault(header, DnsCode::kFormErr, "there are bytes behind the message");
  if (query.edns && query.edns->version != 0) {
    reading.status = DnsReading::Status::kFault;
    reading.fault =
        header_of(query.id, flags_of_answer(query.recursion_desired, query.checking_disabled, kBadVersion), 1, 0, 1) +
        query.question;
    put_opt(reading.fault, query.edns->dnssec_ok, kBadVersion);
    reading.reason = "an unknown version of EDNS";
    return reading;
  }
  if (query.type == kTypeAxfr || query.type == kTypeIxfr || query.type == kTypeOpt)
    return fault(header, DnsCode::kRefused, "a transfer of zones is not offered");
  if (query.klass != dns::kClassIn && query.klass != kClassAny)
    return fault(header, DnsCode::kRefused, "only the class IN is served");
  reading.status = DnsReading::Status::kQuery;
  return reading;
}

}  // namespace

DnsReading read_dns_query(std::string_view message) {
  DnsReading dropped;
  if (message.size() < kHeader) {
    dropped.reason = "too short for a query";
    return dropped;
  }
  ByteReader reader(message);
  Header header;
  for (uint16_t* field :
       {&header.id, &header.flags, &header.questions, &header.answers, &header.authorities, &header.additionals})
    *field = reader.u16();
  if (header.flags & kIsAnswer) {
    dropped.reason = "an answer instead of a query";
    return dropped;
  }
  if (message.size() > dns::kMaxQuery) return fault(header, DnsCode::kFormErr, "the query is too long");
  if (header.opcode() != 0) return fault(header, DnsCode::kNotImp, "only plain queries are served");
  if (header.questions != 1) return fault(header, DnsCode::kFormErr, "a query has exactly one question");
  if (header.answers != 0 || header.authorities != 0 || header.additionals > kMaxRecords || header.flags & kTruncated)
    return fault(header, DnsCode::kFormErr, "a query has no answers, and few additional records");
  return read_body(header, reader);
}

std::string write_dns_answer(const DnsQuery& query, const DnsAnswer& answer, DnsTransport transport) {
  const unsigned code = static_cast<unsigned>(answer.code);
  const unsigned flags = flags_of_answer(query.recursion_desired, query.checking_disabled, code);
  std::string records;
  unsigned count = 0;
  for (const IpAddress& address : answer.addresses) {
    if (!query.asks_for_address() || address.is_v6 != (query.type == dns::kTypeAaaa)) continue;
    const size_t size = address.is_v6 ? 16 : 4;
    put16(records, 0xC000 | kHeader);  // the question's name
    put16(records, query.type);
    put16(records, dns::kClassIn);
    put32(records, answer.ttl_seconds);
    put16(records, static_cast<unsigned>(size));
    records.append(reinterpret_cast<const char*>(address.bytes.data()), size);
    ++count;
  }
  std::string opt;
  if (query.edns) put_opt(opt, query.edns->dnssec_ok, code);
  const size_t room = transport == DnsTransport::kTcp ? 65535
                      : query.edns                    ? std::min(query.edns->udp_size, dns::kUdpSize)
                                                      : 512;
  const unsigned additionals = query.edns ? 1 : 0;
  if (kHeader + query.question.size() + records.size() + opt.size() > room)
    return header_of(query.id, flags | kTruncated, 1, 0, additionals) + query.question + opt;
  return header_of(query.id, flags, 1, count, additionals) + query.question + records + opt;
}

DnsFrame next_dns_frame(std::string_view buffer) {
  ByteReader reader(buffer);
  const size_t length = reader.u16();
  if (reader.failed()) return {};
  if (length < kHeader || length > dns::kMaxQuery) return {DnsFrame::Status::kBad, {}, 0};
  const std::string_view message = reader.take(length);
  if (reader.failed()) return {};
  return {DnsFrame::Status::kMessage, message, length + 2};
}

std::string frame_dns_message(std::string_view message) {
  std::string framed;
  put16(framed, static_cast<unsigned>(message.size()));
  framed += message;
  return framed;
}

}  // namespace bj
