#include "server/response_text.h"

#include <array>
#include <ctime>

namespace bj {
namespace {

const char* reason_of(unsigned status) {
  switch (status) {
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 416: return "Range Not Satisfiable";
    case 422: return "Unprocessable Content";
    case 426: return "Upgrade Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 507: return "Insufficient Storage";
    case 505: return "HTTP Version Not Supported";
    default: return "";
  }
}

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

// A handler may have put a stranger's text into a field: no line break leaves here.
void append_field(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ");
  for (const char c : value) text += (c == '\r' || c == '\n' || c == '\0') ? ' ' : c;
  text += "\r\n";
}

void append_unless_given(std::string& text, const HttpResponse& response, std::string_view name,
                         std::string_view value) {
  if (!response.headers.has(name)) append_field(text, name, value);
}

}  // namespace

std::string header_text(const HttpResponse& response, const HttpRequest& request, Framing framing, Ending ending) {
  std::string text;
  text.reserve(512);
  text.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ").append(reason_of(response.status));
  text += "\r\n";
  for (const auto& [name, value] : response.headers) append_field(text, name, value);
  if (!response.foreign) {
    append_unless_given(text, response, "Cache-Control", "no-store");
    append_unless_given(text, response, "X-Content-Type-Options", "nosniff");
    append_field(text, "Server", "belljar");
    append_field(text, "Date", date_text());
    append_field(text, "X-Request-Id", request.id);
  }
  if (framing == Framing::kLength) {
    const uint64_t length = response.stream ? response.stream_bytes.value_or(0) : response.body.size();
    append_field(text, "Content-Length", std::to_string(length));
  }
  if (framing == Framing::kChunked) append_field(text, "Transfer-Encoding", "chunked");
  const char* const after = ending == Ending::kKeepAlive ? "keep-alive"
                            : ending == Ending::kClose   ? "close"
                                                         : "Upgrade";
  append_field(text, "Connection", after);
  text += "\r\n";
  return text;
}

}  // namespace bj
