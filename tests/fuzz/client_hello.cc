// A TLS client's first bytes: each longer prefix may only turn "need more" into an end, which then stays the same.
#include "egress/client_hello.h"

#include <cstdlib>

#include "egress/host_name.h"
#include "seeds.h"

namespace {

using namespace std::string_literals;

void require(bool truth) {
  if (!truth) std::abort();
}

std::string record(const std::string& body) {
  return "\x16\3\1"s + static_cast<char>(body.size() >> 8) + static_cast<char>(body.size()) + body;
}

// 38 bytes up to the session, a cipher, no compression, then the extensions: a name, ALPN, ECH.
std::string hello() {
  const std::string extensions =
      "\0\0\0\x0E\0\x0C\0\0\x09"
      "a.example\0\x10\0\5\0\3\2h2\xFE\x0D\0\2\0\0"s;
  const std::string body =
      "\3\3" + std::string(32, 'r') + "\0\0\2\x13\1\1\0\0"s + static_cast<char>(extensions.size()) + extensions;
  return "\1\0\0"s + static_cast<char>(body.size()) + body;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned random) {
  static const std::vector<std::string> seeds = {record(hello()),
                                                 record(hello().substr(0, 30)) + record(hello().substr(30)),
                                                 record(hello().substr(0, 2)) + record(hello().substr(2))};
  return bj::fuzz::mutate_from(seeds, data, size, max_size, random);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using Status = bj::ClientHello::Status;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bj::ClientHello whole = bj::read_client_hello(bytes);
  require(whole.status == Status::kFound || !whole.server_name);
  if (whole.server_name) require(bj::normalize_host_name(*whole.server_name) == *whole.server_name);
  for (size_t cut = 0; cut < size; cut += 1 + size / 16) {
    const bj::ClientHello part = bj::read_client_hello(bytes.substr(0, cut));
    if (part.status == Status::kNeedMore) continue;
    require(part.status == whole.status && part.server_name == whole.server_name && part.alpn == whole.alpn);
  }
  return 0;
}
