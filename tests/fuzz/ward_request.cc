// The warden's decoder: requests from whoever holds the other end of its socket.
#include <cstdlib>

#include "seeds.h"
#include "warden/wire.h"

namespace {

using namespace bj::ward;

std::string seed(Op op, const std::vector<std::string>& strings, uint32_t arguments, uint32_t environment) {
  Request request{};
  request.id = 1;
  request.op = op;
  request.argument_count = arguments;
  request.environment_count = environment;
  std::string bytes(reinterpret_cast<const char*>(&request), sizeof request);
  for (const std::string& text : strings) bytes.append(text).push_back('\0');
  return bytes;
}

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned random) {
  static const std::vector<std::string> seeds = {
      seed(Op::kSpawn, {"/", "sh", "-c", "true", "A=b"}, 3, 1), seed(Op::kOpen, {"/etc/passwd"}, 0, 0),
      seed(Op::kRename, {"/a", "/b"}, 0, 0), seed(Op::kSignal, {}, 0, 0), seed(Op::kServeSudo, {}, 0, 0)};
  return bj::fuzz::mutate_from(seeds, data, size, max_size, random);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<char> bytes(data, data + size);
  Request request{};
  const char* strings = nullptr;
  if (!decode(bytes.data(), bytes.size(), request, strings)) return 0;
  // What was accepted must be safe to walk as the warden does: string after string, to the end and no further.
  const char* const end = bytes.data() + bytes.size();
  require(size >= sizeof request && size <= kMaxMessage && strings == bytes.data() + sizeof request);
  uint32_t count = 0;
  for (const char* at = strings; at < end; at += std::strlen(at) + 1) ++count;
  require(count <= kMaxStrings);
  if (request.op == Op::kSpawn) {
    require(request.argument_count > 0 && count == 1 + request.argument_count + request.environment_count);
  }
  if (request.op == Op::kRename) require(count == 2);
  if (request.op == Op::kOpen || request.op == Op::kWatch) require(count == 1);
  return 0;
}
