// The head of a request, and the requests of a connection: the same however they arrive, and what is accepted can't be
// read otherwise by what it says.
#include "egress/http_head.h"

#include <algorithm>
#include <cstdlib>

#include "egress/clear_path.h"
#include "egress/host_name.h"
#include "egress/plain_requests.h"
#include "seeds.h"

namespace {

using Status = bj::HttpHeadReader::Status;

void require(bool truth) {
  if (!truth) std::abort();
}

Status read_in_steps(std::string_view bytes, size_t step, bj::HttpHeadReader& reader) {
  for (size_t arrived = std::min(step, bytes.size());; arrived = std::min(arrived + step, bytes.size())) {
    const Status status = reader.read(bytes.substr(0, arrived));
    if (status != Status::kNeedMore || arrived == bytes.size()) return status;
  }
}

// How many requests were asked about, and whether all of it may pass.
std::pair<int, bool> pass_in_steps(std::string_view bytes, size_t step) {
  int asked = 0;
  bj::PlainRequests requests([&asked](const bj::HttpHead&) {
    ++asked;
    return std::optional<std::string>();
  });
  for (size_t at = 0; at < bytes.size(); at += step) {
    if (requests.sent(bytes.substr(at, step))) return {asked, false};
  }
  return {asked, true};
}

void check_head(const bj::HttpHead& head, std::string_view bytes) {
  require(head.size_bytes <= bytes.size() && head.size_bytes <= bj::kMaxHttpHead);
  require(bytes.substr(0, head.size_bytes).ends_with("\r\n\r\n"));
  require(!(head.is_chunked && head.content_length));
  require(head.authority.address || bj::normalize_host_name(head.authority.name) == head.authority.name);
  const auto hosts = std::count_if(head.fields.begin(), head.fields.end(),
                                   [](const bj::HttpField& field) { return field.name == "host"; });
  require(hosts <= 1);
  for (const bj::HttpField& field : head.fields)
    require(field.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
  if (const auto clear = bj::clear_path(head.path))
    require(bj::clear_path(*clear) == clear && clear->find("/../") == std::string::npos);
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned random) {
  static const std::vector<std::string> seeds = {
      "GET /v1/%61?x=y HTTP/1.1\r\nHost: a.example:80\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
      "POST http://a.example/x HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n\r\nabc",
      "CONNECT [2606::1]:443 HTTP/1.0\r\nX-A: b\r\n\r\n",
      "PUT /a/../b HTTP/1.1\r\nHost: 8.8.8.8\r\nTransfer-Encoding: chunked\r\nX-HTTP-Method: GET\r\n\r\n0\r\n\r\n"};
  return bj::fuzz::mutate_from(seeds, data, size, max_size, random);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  bj::HttpHeadReader whole, cut;
  const Status status = read_in_steps(bytes, size + 1, whole);
  require(read_in_steps(bytes, 5, cut) == status);
  require((status == Status::kRefused || status == Status::kNotHttp) == !whole.reason().empty());
  if (status == Status::kFound) {
    check_head(whole.head(), bytes);
    require(whole.head().path == cut.head().path && whole.head().authority.same_host(cut.head().authority));
  }
  require(pass_in_steps(bytes, size + 1) == pass_in_steps(bytes, 3));
  bj::parse_authority(bytes);
  return 0;
}
