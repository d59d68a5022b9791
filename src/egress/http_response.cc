#include "egress/http_response.h"

#include <algorithm>

namespace bj {
namespace {

HttpComplaint read_status_line(std::string_view line, ResponseHead& response) {
  const std::string_view version = line.substr(0, 9);
  if (version != "HTTP/1.1 " && version != "HTTP/1.0 ") return "the server does not answer in HTTP/1.1";
  response.is_http_1_0 = version == "HTTP/1.0 ";
  const std::string_view code = line.substr(9, 3);
  const bool is_number =
      code.size() == 3 && std::all_of(code.begin(), code.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || code[0] < '1' || code[0] > '5' || (line.size() > 12 && line[12] != ' '))
    return "the server's status line is malformed";
  response.status = (code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0');
  response.reason_phrase = line.size() > 13 ? line.substr(13) : std::string_view();
  const auto is_control = [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7F; };
  if (std::any_of(line.begin(), line.end(), is_control)) return "the server's status line has a control character";
  return nullptr;
}

HttpComplaint check_length(ResponseHead& response) {
  HttpComplaint complaint = nullptr;
  const std::string* length =
      only_http_field(response.fields, "content-length", complaint, "the response has more than one Content-Length");
  const std::string* coding = only_http_field(response.fields, "transfer-encoding", complaint,
                                              "the response has more than one Transfer-Encoding");
  if (complaint != nullptr) return complaint;
  if (length != nullptr && coding != nullptr) return "the response has both Content-Length and Transfer-Encoding";
  if (coding != nullptr) {
    if (response.is_http_1_0 || lower_case(*coding) != "chunked") return "the response has a coding other than chunked";
    response.is_chunked = true;
  }
  if (length != nullptr) {
    uint64_t value = 0;
    if (const HttpComplaint wrong = read_content_length(*length, value)) return wrong;
    response.content_length = value;
  }
  return nullptr;
}

HttpComplaint read_head(std::string_view bytes, ResponseHead& response) {
  const size_t end = bytes.find("\r\n");
  if (HttpComplaint complaint = read_status_line(bytes.substr(0, end), response)) return complaint;
  if (HttpComplaint complaint = read_http_fields(bytes.substr(end + 2), response.fields)) return complaint;
  response.keep_alive = !response.is_http_1_0;
  for (const HttpField& field : response.fields) {
    if (field.name != "connection") continue;
    for (const std::string& token : http_list(field.value)) {
      if (token == "close") response.keep_alive = false;
      if (token == "keep-alive" && response.is_http_1_0) response.keep_alive = true;
    }
  }
  return check_length(response);
}

}  // namespace

BodyLength body_length_of(const ResponseHead& response, std::string_view request_method) {
  using Kind = BodyLength::Kind;
  if (request_method == "HEAD" || response.status < 200 || response.status == 204 || response.status == 304) return {};
  if (response.is_chunked) return {Kind::kChunked, 0};
  if (response.content_length) return {Kind::kCounted, *response.content_length};
  return {Kind::kUntilClosed, 0};
}

HttpResponseReader::Status HttpResponseReader::read(std::string_view bytes) {
  switch (end_.look(bytes)) {
    case HttpHeadEnd::Status::kNeedMore: return Status::kNeedMore;
    case HttpHeadEnd::Status::kBareLineFeed:
      reason_ = "a line of the response ends without CR";
      return Status::kRefused;
    case HttpHeadEnd::Status::kTooLong: reason_ = "the response's head is too long"; return Status::kRefused;
    case HttpHeadEnd::Status::kFound: break;
  }
  response_.size_bytes = end_.size();
  if (const char* complaint = read_head(bytes.substr(0, end_.size()), response_)) {
    reason_ = complaint;
    return Status::kRefused;
  }
  return Status::kFound;
}

}  // namespace bj
