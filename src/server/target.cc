#include "server/target.h"

#include <algorithm>

#include "base/utf8.h"

namespace bj {
namespace {

constexpr size_t kMostParameters = 512;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

enum class Controls { kRefused, kTaken };

Result<std::string> decoded(std::string_view text, Controls controls) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) return fail(Code::kInvalid, "a % in the URL is not followed by two hexadecimal digits");
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0 || (controls == Controls::kRefused && (byte < 0x20 || byte == 0x7f)))
      return fail(Code::kInvalid, "the URL has a control character in it");
    out += c;
  }
  if (!is_utf8(out)) return fail(Code::kInvalid, "the URL is not UTF-8 once it is decoded");
  return out;
}

Result<std::string> query_decoded(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return decoded(spaced, Controls::kTaken);
}

}  // namespace

Result<std::string> percent_decoded(std::string_view text) { return decoded(text, Controls::kRefused); }

Result<RequestTarget> parse_target(std::string_view text) {
  RequestTarget target;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (text.size() < scheme.size() || !equal_ignoring_case(text.substr(0, scheme.size()), scheme)) continue;
    text.remove_prefix(scheme.size());
    const size_t end = std::min(text.find_first_of("/?"), text.size());
    target.authority = text.substr(0, end);
    text.remove_prefix(end);
    if (target.authority.empty()) return fail(Code::kInvalid, "the request's URL has no host");
    if (text.empty()) text = "/";
    break;
  }
  if (text.empty() || text.front() != '/') return fail(Code::kInvalid, "the request's path must begin with a slash");
  const size_t mark = text.find('?');
  target.path = text.substr(0, mark);
  if (mark != std::string_view::npos) target.query = text.substr(mark + 1);
  if (text.find('#') != std::string_view::npos) return fail(Code::kInvalid, "a fragment (#) is not sent to a server");
  return target;
}

Result<Parameters> parse_query(std::string_view query) {
  Parameters parameters;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    if (parameters.size() == kMostParameters) return fail(Code::kInvalid, "the URL has too many query parameters");
    const size_t equals = pair.find('=');
    BJ_TRY(std::string name, query_decoded(pair.substr(0, equals)));
    BJ_TRY(std::string value, query_decoded(equals == std::string_view::npos ? "" : pair.substr(equals + 1)));
    parameters.add(std::move(name), std::move(value));
  }
  return parameters;
}

}  // namespace bj
