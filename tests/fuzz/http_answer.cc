// Answers, bodies and redaction: the same however they arrive; a value never comes out, and nothing else changes.
#include <algorithm>
#include <cstdlib>

#include "egress/http_body.h"
#include "egress/http_response.h"
#include "egress/redaction.h"
#include "egress/websocket_frames.h"
#include "seeds.h"

namespace {

constexpr std::string_view kValue = "aab-aab+c";

void require(bool truth) {
  if (!truth) std::abort();
}

void check_response(std::string_view bytes) {
  bj::HttpResponseReader whole, cut;
  const auto status = whole.read(bytes);
  auto other = bj::HttpResponseReader::Status::kNeedMore;
  for (size_t size = 1; size <= bytes.size() && other == bj::HttpResponseReader::Status::kNeedMore; ++size)
    other = cut.read(bytes.substr(0, size));
  require(other == status || bytes.empty());
  if (status != bj::HttpResponseReader::Status::kFound) return;
  const bj::ResponseHead& response = whole.response();
  require(response.status >= 100 && response.status < 600 && response.size_bytes <= bytes.size());
  require(!(response.is_chunked && response.content_length));
}

void check_body(std::string_view bytes) {
  bj::HttpBodyReader whole({bj::BodyLength::Kind::kChunked, 0}), cut({bj::BodyLength::Kind::kChunked, 0});
  std::string content, other;
  const auto taken = whole.read(bytes, content);
  size_t at = 0;
  bool good = true;
  while (good && at < bytes.size() && !cut.is_over()) {
    const auto one = cut.read(bytes.substr(at, 1), other);
    good = one.has_value();
    if (good) at += *one;
  }
  require(taken.has_value() == good);
  if (!taken) return;
  require(*taken == at && content == other && whole.is_over() == cut.is_over());
}

void check_redaction(std::string_view bytes, size_t step) {
  static const auto kTexts = [] {
    bj::GateCredential one;
    one.value = std::make_shared<const bj::Secret>(kValue);
    one.format = "Bearer {}";
    return std::make_shared<const bj::ForbiddenTexts>(bj::GateCredentials{one});
  }();
  const std::string whole = kTexts->redacted(bytes);
  require(whole.size() == bytes.size() && whole.find(kValue) == std::string::npos);
  for (size_t i = 0; i < bytes.size(); ++i) require(whole[i] == bytes[i] || whole[i] == '*');
  bj::Redactor redactor(kTexts);
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += step) redactor.pass(bytes.substr(at, step), out);
  redactor.finish(out);
  require(out == whole);
}

void check_frames(std::string_view bytes) {
  bj::WebSocketFrames frames;
  while (!bytes.empty()) {
    const size_t taken = frames.pass(bytes);
    require(taken > 0 && taken <= bytes.size());
    bytes.remove_prefix(taken);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_response(bytes.substr(0, 2048));
  check_body(bytes);
  check_redaction(bytes, 1 + (size == 0 ? 0 : data[0] % 7));
  check_frames(bytes);
  return 0;
}
