#include "egress/plain_requests.h"

namespace bj {
namespace {

constexpr std::string_view kSwitched = "HTTP/1.1 101";

}  // namespace

void PlainRequests::answered(std::string_view bytes) {
  first_answer_.append(bytes.substr(0, kSwitched.size() - first_answer_.size()));
}

bool PlainRequests::is_websocket() const {
  return asked_for_websocket_ && requests_ == 1 && first_answer_ == kSwitched;
}

std::optional<std::string> PlainRequests::read_head(std::string_view& bytes) {
  const size_t before = head_.size();
  head_.append(bytes.substr(0, kMaxHttpHead - before));
  switch (reader_.read(head_)) {
    case HttpHeadReader::Status::kNeedMore: bytes = {}; return {};
    case HttpHeadReader::Status::kNotHttp:
    case HttpHeadReader::Status::kRefused: return reader_.reason();
    case HttpHeadReader::Status::kFound: break;
  }
  const HttpHead& head = reader_.head();
  if (std::optional<std::string> complaint = complaint_(head)) return complaint;
  bytes.remove_prefix(head.size_bytes - before);
  asked_for_websocket_ = ++requests_ == 1 && head.upgrade == "websocket";
  body_.emplace(body_length_of(head));
  std::string().swap(head_);  // an idle connection holds none of it
  reader_ = HttpHeadReader();
  return {};
}

std::optional<std::string> PlainRequests::read_body(std::string_view& bytes) {
  std::string content;
  const std::optional<size_t> taken = body_->read(bytes, content);
  if (!taken) return body_->reason();
  bytes.remove_prefix(*taken);
  return {};
}

std::optional<std::string> PlainRequests::sent(std::string_view bytes) {
  while (!bytes.empty()) {
    const bool in_body = body_ && !body_->is_over();
    if (!in_body && head_.empty() && is_websocket()) return {};
    if (std::optional<std::string> complaint = in_body ? read_body(bytes) : read_head(bytes)) return complaint;
  }
  return {};
}

}  // namespace bj
