// What of an HTTP request is ours to decode: the target, the query, the path against the routes, and the whole of a
// request's bytes through the parser, in two different cuts.
#include <cstdlib>

#include "base/utf8.h"
#include "seeds.h"
#include "server/address.h"
#include "server/request_parser.h"
#include "server/router.h"
#include "server/target.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

const bj::Router& router() {
  static const bj::Router* const made = [] {
    auto* routes = new bj::Router;
    for (const char* pattern : {"/", "/v1/tools", "/v1/tools/{id}", "/v1/tools/count", "/v1/{kind}/count/all"})
      routes->add(bj::Method::kGet, pattern, nullptr);
    return routes;
  }();
  return *made;
}

void check_target(std::string_view text) {
  const auto target = bj::parse_target(text);
  if (!target) return;
  require(target->path.starts_with('/'));
  if (const auto match = router().match(bj::Method::kGet, target->path)) {
    for (const auto& [name, value] : match->parameters)
      require(!value.empty() && value != "." && value != ".." && value.find('\0') == std::string::npos &&
              bj::is_utf8(value));
  }
  if (const auto query = bj::parse_query(target->query)) {
    for (const auto& [name, value] : *query) require(bj::is_utf8(name) && bj::is_utf8(value));
  }
}

struct Read {
  bool good = true;
  bj::HttpRequest request;
  std::string body;
};

// Feeds the bytes as if they arrived `step` at a time.
void read_in_steps(std::string_view bytes, size_t step, Read& read) {
  bj::RequestParser parser(read.request, 4096, 50);
  size_t arrived = 0, taken = 0;
  while (!parser.done()) {
    const auto used = parser.feed(bytes.substr(taken, arrived - taken));
    if (!used) {
      read.good = false;
      return;
    }
    require(*used <= arrived - taken);
    taken += *used;
    read.body += parser.take_body();
    if (*used > 0) continue;
    if (arrived == bytes.size()) break;
    arrived = std::min(bytes.size(), arrived + step);
  }
  read.good = parser.done();
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned random) {
  static const std::vector<std::string> seeds = {
      "/v1/tools/a%20b?name=x&name=%C3%A9+y", "http://localhost:8090/v1/tools/count?x",
      "POST /v1/tools/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
      "POST / HTTP/1.1\r\nHost: [::1]:80\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: x\r\n\r\n",
      "GET /v1/a/count/all HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\nConnection: close\r\n\r\n"};
  return bj::fuzz::mutate_from(seeds, data, size, max_size, random);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_target(bytes);
  bj::host_name(bytes);
  Read whole, cut;
  read_in_steps(bytes, bytes.size() + 1, whole);
  read_in_steps(bytes, 7, cut);
  // However a request arrives, it is the same request.
  require(whole.good == cut.good);
  if (whole.good) {
    require(whole.request.path == cut.request.path && whole.body == cut.body);
    require(std::equal(whole.request.headers.begin(), whole.request.headers.end(), cut.request.headers.begin(),
                       cut.request.headers.end()));
  }
  return 0;
}
