// A SOCKS5 client's greeting and request: bounded, and a longer prefix only ever ends a "need more".
#include "egress/socks5.h"

#include <cstdlib>

#include "egress/host_name.h"
#include "seeds.h"

namespace {

using namespace std::string_literals;

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned random) {
  static const std::vector<std::string> seeds = {"\5\2\0\2"s, "\5\1\0\1\x08\x08\x04\x04\1\xBB"s,
                                                 "\5\1\0\3\x09"
                                                 "a.example\0\x50"s,
                                                 "\5\1\0\3\x07"
                                                 "8.8.4.4\0\x50"s,
                                                 "\5\1\0\4\x26\6\x47\0\0\0\0\0\0\0\0\0\0\0\0\1\x1F\x90"s};
  return bj::fuzz::mutate_from(seeds, data, size, max_size, random);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using bj::Socks5Status;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bj::Socks5Greeting greeting = bj::read_socks5_greeting(bytes);
  const bj::Socks5Request request = bj::read_socks5_request(bytes);
  require(greeting.used <= size && request.used <= size && request.used <= bj::kMaxSocks5Message);
  if (size >= bj::kMaxSocks5Message)
    require(greeting.status != Socks5Status::kNeedMore && request.status != Socks5Status::kNeedMore);
  if (request.status == Socks5Status::kFound) {
    require(request.address.has_value() == request.name.empty() && request.port != 0);
    if (!request.address) require(bj::normalize_host_name(request.name) == request.name);
  }
  require((request.status == Socks5Status::kRefused) == !request.answer.empty());
  for (size_t cut = 0; cut < size; ++cut) {
    const bj::Socks5Request part = bj::read_socks5_request(bytes.substr(0, cut));
    require(part.status == Socks5Status::kNeedMore || (part.status == request.status && part.used == request.used));
  }
  return 0;
}
