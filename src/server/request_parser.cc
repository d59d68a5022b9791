#include "server/request_parser.h"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "server/target.h"

namespace bj {
namespace {

namespace http = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

ParseFailure failure_of(const error_code& error) {
  if (error == http::error::header_limit) return {431, "The request's header is too long"};
  if (error == http::error::bad_version) return {505, "Only HTTP/1.0 and HTTP/1.1 are spoken here"};
  return {400, "The request can't be read: " + error.message()};
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

class RequestParser::Impl : public http::basic_parser<true> {
 public:
  Impl(HttpRequest& its_request, uint32_t its_most_fields) : request(its_request), most_fields(its_most_fields) {}

  HttpRequest& request;
  uint32_t most_fields;
  std::string target;
  std::string body;
  bool old = false;
  std::optional<ParseFailure> failure;  // more exact than the parser's error code

  // What the whole header must fulfil.
  std::optional<ParseFailure> finish();

 private:
  std::optional<ParseFailure> finish_framing() const;
  std::optional<ParseFailure> finish_target();

  void refuse(unsigned status, const char* sentence, error_code& error) {
    failure = {status, sentence};
    error = http::error::bad_value;
  }

  void on_request_impl(http::verb, string_view method, string_view its_target, int version,
                       error_code& error) override {
    const std::optional<Method> known = method_of({method.data(), method.size()});
    if (!known) return refuse(501, "The method is none of GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS", error);
    request.method = *known;
    target.assign(its_target.data(), its_target.size());
    old = version == 10;
    request.headers.reserve(16);
    error = {};
  }
  void on_field_impl(http::field, string_view name, string_view value, error_code& error) override {
    error = {};
    if (is_header_done()) return;  // a trailer
    if (request.headers.size() == most_fields) return refuse(431, "The request has too many header fields", error);
    request.headers.add({name.data(), name.size()}, {value.data(), value.size()});
  }
  void on_header_impl(error_code& error) override { error = {}; }
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code& error) override { error = {}; }
  size_t on_body_impl(string_view piece, error_code& error) override {
    error = {};
    body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_chunk_header_impl(uint64_t, string_view, error_code& error) override { error = {}; }
  size_t on_chunk_body_impl(uint64_t, string_view piece, error_code& error) override {
    return on_body_impl(piece, error);
  }
  void on_finish_impl(error_code& error) override { error = {}; }
  void on_response_impl(int, string_view, int, error_code& error) override { error = {}; }
};

std::optional<ParseFailure> RequestParser::Impl::finish() {
  if (std::optional<ParseFailure> bad = finish_framing()) return bad;
  return finish_target();
}

std::optional<ParseFailure> RequestParser::Impl::finish_framing() const {
  const Headers& headers = request.headers;
  if (headers.count("Content-Length") > 1 ||
      (headers.has("Content-Length") && !is_number(headers.get("Content-Length"))))
    return ParseFailure{400, "Content-Length must be there once and be a number"};
  if (headers.has("Transfer-Encoding") && (old || headers.count("Transfer-Encoding") > 1 ||
                                           !equal_ignoring_case(headers.get("Transfer-Encoding"), "chunked")))
    return ParseFailure{400, "The only Transfer-Encoding is chunked, in HTTP/1.1"};
  if (headers.count("Host") > 1 || (!old && !headers.has("Host")))
    return ParseFailure{400, "The Host header must be there once"};
  return std::nullopt;
}

std::optional<ParseFailure> RequestParser::Impl::finish_target() {
  const Result<RequestTarget> parsed = bj::parse_target(target);
  if (!parsed) return ParseFailure{400, parsed.error().what};
  if (!parsed->authority.empty() && !equal_ignoring_case(parsed->authority, request.headers.get("Host")))
    return ParseFailure{400, "The Host header differs from the host in the URL"};
  Result<Parameters> query = parse_query(parsed->query);
  if (!query) return ParseFailure{400, query.error().what};
  request.path = parsed->path;
  request.query = std::move(*query);
  request.query_text = parsed->query;
  return std::nullopt;
}

RequestParser::RequestParser(HttpRequest& request, uint32_t header_bytes, uint32_t header_fields)
    : impl_(std::make_unique<Impl>(request, header_fields)) {
  impl_->header_limit(header_bytes);
  impl_->body_limit(boost::none);  // the route's, enforced where the body is read
}

RequestParser::~RequestParser() = default;

tl::expected<size_t, ParseFailure> RequestParser::feed(std::string_view bytes) {
  size_t taken = 0;
  while (taken < bytes.size() && !impl_->is_done()) {
    const bool in_header = !impl_->is_header_done();
    error_code error;
    taken += impl_->put(boost::asio::buffer(bytes.data() + taken, bytes.size() - taken), error);
    if (error == http::error::need_more) break;
    if (error) return tl::unexpected(impl_->failure.value_or(failure_of(error)));
    if (in_header && impl_->is_header_done()) {
      if (std::optional<ParseFailure> bad = impl_->finish()) return tl::unexpected(*bad);
      break;
    }
  }
  return taken;
}

bool RequestParser::header_done() const { return impl_->is_header_done(); }
bool RequestParser::done() const { return impl_->is_done(); }
std::string RequestParser::take_body() { return std::exchange(impl_->body, {}); }
bool RequestParser::keep_alive() const { return impl_->keep_alive(); }
bool RequestParser::is_http_1_0() const { return impl_->old; }

bool RequestParser::expects_continue() const {
  return !impl_->old && equal_ignoring_case(impl_->request.headers.get("Expect"), "100-continue");
}

std::optional<uint64_t> RequestParser::length() const {
  if (impl_->chunked()) return std::nullopt;
  return impl_->content_length().value_or(0);
}

}  // namespace bj
