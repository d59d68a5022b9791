// The engine's decoder of what a warden sends: a sandbox may have taken its warden over.
#include <cstdlib>

#include "seeds.h"
#include "warden/wire.h"

namespace {

using namespace bj::ward;

std::string seed(ReplyKind kind) {
  Reply reply{};
  reply.id = 1;
  reply.kind = kind;
  reply.value = 42;
  return {reinterpret_cast<const char*>(&reply), sizeof reply};
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned random) {
  static const std::vector<std::string> seeds = {seed(ReplyKind::kReady), seed(ReplyKind::kDone),
                                                 seed(ReplyKind::kExit)};
  return bj::fuzz::mutate_from(seeds, data, size, max_size, random);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<char> bytes(data, data + size);
  Reply reply{};
  if (!decode(bytes.data(), bytes.size(), reply)) return 0;
  const bool known =
      reply.kind == ReplyKind::kReady || reply.kind == ReplyKind::kDone || reply.kind == ReplyKind::kExit;
  if (size != sizeof reply || !known || std::memcmp(&reply, data, size) != 0) std::abort();
  return 0;
}
