#include "providers/http_transfer.h"

#include <algorithm>

namespace bj {
namespace {

constexpr size_t kMaxHeaderBytes = 64 * 1024;
constexpr size_t kMaxUnwantedBytes = 64 * 1024;  // of a failure's body, where a success would be taken as it comes

struct UrlDelete {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlDelete>;

Url parse_url(const std::string& text) {
  Url url(curl_url());
  if (url != nullptr && curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) url.reset();
  return url;
}

std::string part(const Url& url, CURLUPart which, unsigned int flags = 0) {
  char* text = nullptr;
  if (url == nullptr || curl_url_get(url.get(), which, &text, flags) != CURLUE_OK) return {};
  std::string result = text;
  curl_free(text);
  return result;
}

bool loopback(const std::string& host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]" || host == "::1";
}

bool token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c > 0x20 && c < 0x7f &&
           std::string_view("()<>@,;:\\\"/[]?={}").find(static_cast<char>(c)) == std::string_view::npos;
  });
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::string origin_of(const std::string& text) {
  const Url url = parse_url(text);
  const std::string host = part(url, CURLUPART_HOST);
  if (host.empty()) return {};
  return part(url, CURLUPART_SCHEME) + "://" + lower(host) + ":" + part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
}

Result<void> check_request(const ClientRequest& request) {
  const std::string scheme = part(parse_url(request.url), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return fail(Code::kInvalid, "a request needs an http or https URL");
  if (!token(request.method)) return fail(Code::kInvalid, "a request's method must be one word");
  for (const auto& [name, value] : request.headers) {
    if (!token(name) || value.find_first_of(std::string_view("\r\n\0", 3)) != value.npos) {
      return fail(Code::kInvalid,
                  "the header \"" + name.substr(0, 64) + "\" can't be sent: it would break the request");
    }
  }
  return {};
}

Result<void> HttpTransfer::prepare() {
  easy_.reset(curl_easy_init());
  if (easy_ == nullptr) return fail(Code::kExhausted, "curl_easy_init failed");
  CURL* easy = easy_.get();
  for (const auto& [name, value] : request_.headers) {
    // "Name;" is curl's way to send an empty one.
    const std::string line = value.empty() ? name + ";" : name + ": " + value;
    curl_slist* list = curl_slist_append(headers_.get(), line.c_str());
    if (list == nullptr) return fail(Code::kExhausted, "curl_slist_append failed");
    (void)headers_.release();  // NOLINT(bugprone-unused-return-value): the list begins with it
    headers_.reset(list);
  }
  curl_easy_setopt(easy, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_.get());
  curl_easy_setopt(easy, CURLOPT_NOBODY, request_.method == "HEAD" ? 1L : 0L);
  if (!request_.body.empty() || request_.method == "POST" || request_.method == "PUT") {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request_.body.c_str());
  }
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, std::max<long>(1, static_cast<long>(request_.timeout.count())));
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  if (loopback(part(parse_url(request_.url), CURLUPART_HOST))) curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  if (request_.idle.count() > 0) {
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(request_.idle.count()));
  }
  if (request_.may_connect) {
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);  // one that is open was asked about by somebody else
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  }
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(easy, CURLOPT_XFERINFODATA, this);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
  return {};
}

size_t HttpTransfer::on_body(char* data, size_t size, size_t count, void* self) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  const size_t bytes = size * count;
  const size_t before = transfer.response_.body.size() + transfer.streamed_bytes_;
  long status = 0;
  curl_easy_getinfo(transfer.easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  const bool streams = transfer.request_.on_body && status / 100 == 2;
  const size_t most = transfer.request_.on_body && !streams
                          ? std::min(kMaxUnwantedBytes, transfer.request_.max_response_bytes)
                          : transfer.request_.max_response_bytes;
  transfer.too_large_ = bytes > most - before;
  if (transfer.too_large_) return CURL_WRITEFUNC_ERROR;
  if (!streams) {
    transfer.response_.body.append(data, bytes);
    return bytes;
  }
  transfer.streamed_bytes_ += bytes;
  return transfer.request_.on_body({data, bytes}) ? bytes : CURL_WRITEFUNC_ERROR;
}

curl_socket_t HttpTransfer::on_socket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  if (!transfer.request_.may_connect(address->addr)) {
    transfer.refused_ = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

size_t HttpTransfer::on_header(char* data, size_t size, size_t count, void* self) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  const size_t bytes = size * count;
  transfer.header_bytes_ += bytes;
  transfer.too_large_ = transfer.header_bytes_ > kMaxHeaderBytes;
  if (transfer.too_large_) return CURL_WRITEFUNC_ERROR;
  transfer.add_header({data, bytes});
  return bytes;
}

// A status line begins a new response: 100 Continue comes before the real one.
void HttpTransfer::add_header(std::string_view line) {
  if (line.starts_with("HTTP/")) return response_.headers.clear();
  const size_t colon = line.find(':');
  if (colon == line.npos) return;
  response_.headers.emplace_back(lower(trimmed(line.substr(0, colon))), trimmed(line.substr(colon + 1)));
}

int HttpTransfer::on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<HttpTransfer*>(self)->cancelled_ ? 1 : 0;
}

Result<ClientResponse> HttpTransfer::finish(CURLcode code) {
  const std::string host = origin_of(request_.url);
  if (too_large_) return fail(Code::kExhausted, host + ": the response is larger than allowed");
  if (code != CURLE_OK && refused_)
    return fail(Code::kDenied, host + ": its address is not one that may be connected to");
  if (code == CURLE_OPERATION_TIMEDOUT) return fail(Code::kUnavailable, host + ": no answer in time");
  if (code != CURLE_OK) return fail(Code::kUnavailable, host + ": " + curl_easy_strerror(code));
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  response_.status = static_cast<int>(status);
  return std::move(response_);
}

std::string HttpTransfer::redirect() const {
  char* url = nullptr;
  curl_easy_getinfo(easy_.get(), CURLINFO_REDIRECT_URL, &url);
  return url == nullptr ? std::string() : std::string(url);
}

}  // namespace bj
