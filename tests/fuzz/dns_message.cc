// A query of a sandbox's resolver: reading it never fails otherwise than by its answers, and whatever is answered is a
// message of our own making that repeats the question and keeps to the transport's size.
#include "egress/dns_message.h"

#include <cstdlib>

#include "egress/host_name.h"
#include "seeds.h"

namespace {

using namespace std::string_literals;

void require(bool truth) {
  if (!truth) std::abort();
}

bool is_answer_to(std::string_view answer, std::string_view query) {
  return answer.size() >= 12 && answer.substr(0, 2) == query.substr(0, 2) && (answer[2] & 0x80) != 0;
}

void check_answers(const bj::DnsQuery& query, std::string_view bytes) {
  bj::DnsAnswer answer;
  for (uint32_t i = 0; i < 40; ++i) answer.addresses.push_back(bj::IpAddress::v4(0xC6120100 + i));
  const std::string udp = bj::write_dns_answer(query, answer, bj::DnsTransport::kUdp);
  const std::string tcp = bj::write_dns_answer(query, answer, bj::DnsTransport::kTcp);
  require(is_answer_to(udp, bytes) && is_answer_to(tcp, bytes));
  require(udp.size() <= (query.edns ? bj::dns::kUdpSize : 512));
  require(std::string_view(udp).substr(12).starts_with(query.question));
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned random) {
  static const std::vector<std::string> seeds = {
      "\x12\x34\1\0\0\1\0\0\0\0\0\0\3www\7example\3com\0\0\1\0\1"s,
      "\x12\x34\1\x20\0\1\0\0\0\0\0\1\3www\7example\3com\0\0\x1C\0\1\0\0\x29\4\xD0\0\0\x80\0\0\x0C\0\x0A\0\x08"
      "abcdefgh"s,
      "\x12\x34\1\0\0\1\0\0\0\0\0\1\1a\0\0\x41\0\1\xC0\x0C\0\1\0\1\0\0\0\0\0\4\1\2\3\4"s,
      "\0\x1D\x12\x34\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\x10\0\1"s};
  return bj::fuzz::mutate_from(seeds, data, size, max_size, random);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bj::DnsReading reading = bj::read_dns_query(bytes);
  if (reading.status == bj::DnsReading::Status::kFault) require(is_answer_to(reading.fault, bytes));
  if (reading.status == bj::DnsReading::Status::kQuery) {
    require(reading.query.name.size() <= 254 && reading.query.name.find('\0') == std::string::npos);
    check_answers(reading.query, bytes);
  }
  const bj::DnsFrame frame = bj::next_dns_frame(bytes);
  require(frame.used <= size && frame.message.size() <= size);
  if (const auto name = bj::normalize_host_name(bytes)) require(*bj::normalize_host_name(*name) == *name);
  return 0;
}
