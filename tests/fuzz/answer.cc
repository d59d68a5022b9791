// The frame header and the answer of a call: bytes that the tool's own process wrote.
#include "engine/calls/answer.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>

#include "seeds.h"

namespace {

const std::string kNonce = "n0";

void require(bool truth) {
  if (!truth) std::abort();
}

void check_header(const uint8_t* data) {
  const bj::FrameHeader header = bj::decode_frame_header(reinterpret_cast<const char*>(data));
  if (header.size > 1 << 16) return;
  const std::string frame = bj::encode_frame(static_cast<bj::FrameType>(header.type), std::string(header.size, 'x'));
  require(std::memcmp(frame.data(), data, bj::kFrameHeader) == 0);
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned random) {
  static const std::vector<std::string> seeds = {
      R"({"nonce":"n0","status":"ok","return":{"a":[1,-2.5e3,"\u00e9",null,true]},"imports":["json","re"]})",
      R"({"nonce":"n0","status":"error","error":{"name":"E","message":"m","traceback":"t"},"errno":24})",
      R"({"nonce":"n0","status":"invalid","error":{"name":"E","message":"no such function"}})",
      R"({"nonce":"n0","status":"ok","return":[1e308,-1e-308,18446744073709551615,0.1]})",
      R"({"nonce":"n0","status":"ok","return":[[[[[[[[{"deep":[[[]]]}]]]]]]]]})",
      R"({"nonce":"n0","status":"ok","return":"NaN","text":"nan","agent_state":{"memory":{"blocks":[{"id":"b"}]}}})"};
  return bj::fuzz::mutate_from(seeds, data, size, max_size, random);
}

namespace {

void check_answer(std::string_view bytes, bj::AnswerKind kind) {
  bj::CallResult result;
  if (!bj::decode_answer(bytes, kNonce, result, kind)) return;
  // An accepted answer is one of the three statuses and can be written as JSON again.
  const bj::CallStatus status = result.status;
  require(status == bj::CallStatus::kOk || status == bj::CallStatus::kError || status == bj::CallStatus::kInvalid);
  require(result.imports.size() <= 64 && result.limits_hit.size() <= 1);
  boost::system::error_code error;
  boost::json::parse_options deep;
  deep.max_depth = 256;
  for (const boost::json::value* value : {&result.value, &result.agent_state}) {
    boost::json::parse(boost::json::serialize(*value), error, {}, deep);
    require(!error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size >= bj::kFrameHeader) check_header(data);
  const std::vector<char> bytes(data, data + size);
  for (const bj::AnswerKind kind : {bj::AnswerKind::kPlain, bj::AnswerKind::kLetta, bj::AnswerKind::kLettaWithState}) {
    check_answer({bytes.data(), bytes.size()}, kind);
  }
  return 0;
}
