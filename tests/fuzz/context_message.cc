// Frames and messages of an interpreter's context: bytes that the user's own process wrote.
#include <boost/json/serialize.hpp>
#include <cstdlib>

#include "engine/interpreters/context_messages.h"
#include "seeds.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned random) {
  static const std::vector<std::string> seeds = {
      R"({"op":"ready","pid":12})",
      R"({"op":"count","nonce":"n","count":3})",
      R"({"op":"result","nonce":"n","main":true,"data":{"text/plain":"1","application/json":{"a":[1,-2.5e3,null]}}})",
      R"({"op":"error","nonce":"n","name":"E","value":"\u00e9","traceback":"t"})",
      R"({"op":"done","nonce":"n","status":130})",
      R"({"op":"refused","nonce":"n","reason":"threads"})"};
  return bj::fuzz::mutate_from(seeds, data, size, max_size, random);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<char> bytes(data, data + size);
  const std::string_view text(bytes.data(), bytes.size());
  if (const auto message = bj::decode_context_message(text)) {
    require(message->data.size() <= 32 && message->error.value.size() <= 256 * 1024);
    require(message->op != bj::ContextOp::kReady || message->pid > 1);
    (void)boost::json::serialize(message->data);
  }
  bj::ContextFrames frames;
  const size_t half = size / 2;
  if (!frames.feed(text.substr(0, half)) || !frames.feed(text.substr(half))) return 0;
  size_t taken = 0;
  while (!frames.empty()) taken += frames.next().size() + 5;
  require(taken <= size);
  return 0;
}
