#include "api/multipart.h"

#include "server/headers.h"
#include "server/target.h"

namespace bj {
namespace {

constexpr size_t kLongestHead = 16 * 1024;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The value of a parameter, quoted or not; `rest` is what stands behind it.
std::string parameter_value(std::string_view& rest) {
  std::string value;
  if (!rest.starts_with('"')) {
    const size_t end = std::min(rest.find(';'), rest.size());
    value = trimmed(rest.substr(0, end));
    rest.remove_prefix(end);
    return value;
  }
  // Clients write a backslash as it is, and before a quote or another one to escape that.
  size_t at = 1;
  for (; at < rest.size() && rest[at] != '"'; ++at) {
    const char next = at + 1 < rest.size() ? rest[at + 1] : '\0';
    if (rest[at] == '\\' && (next == '"' || next == '\\')) ++at;
    value += rest[at];
  }
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return value;
}

// Browsers write a quote, CR and LF in a name as %22, %0D and %0A, and nothing else.
std::string unescaped(std::string text) {
  for (const auto& [code, character] : {std::pair("%22", '"'), std::pair("%0D", '\r'), std::pair("%0A", '\n')}) {
    for (size_t at = text.find(code); at != std::string::npos; at = text.find(code, at + 1))
      text.replace(at, 3, 1, character);
  }
  return text;
}

// "UTF-8''%C5%BE.txt", as some clients write a name that is not of ASCII alone; nothing: it is not of that form.
std::optional<std::string> extended_value(std::string_view value) {
  constexpr std::string_view kUtf8 = "utf-8'";
  if (value.size() < kUtf8.size() || !equal_ignoring_case(value.substr(0, kUtf8.size()), kUtf8)) return std::nullopt;
  value.remove_prefix(kUtf8.size());
  const size_t quote = value.find('\'');  // behind the language
  if (quote == std::string_view::npos) return std::nullopt;
  Result<std::string> decoded = percent_decoded(value.substr(quote + 1));
  if (!decoded) return std::nullopt;
  return std::move(*decoded);
}

// Calls `found` with each parameter of "form-data; name=..; filename=..".
template <class Found>
void each_parameter(std::string_view value, Found found) {
  std::string_view rest = value.substr(std::min(value.find(';'), value.size()));
  while (!rest.empty()) {
    rest = trimmed(rest.substr(1));
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view name = trimmed(rest.substr(0, equals));
    rest.remove_prefix(equals + 1);
    found(name, parameter_value(rest));
    rest.remove_prefix(std::min(rest.find(';'), rest.size()));
  }
}

}  // namespace

std::optional<std::string> multipart_boundary(std::string_view content_type) {
  const std::string_view type = trimmed(content_type.substr(0, content_type.find(';')));
  if (!equal_ignoring_case(type, "multipart/form-data")) return std::nullopt;
  std::optional<std::string> boundary;
  each_parameter(content_type, [&boundary](std::string_view name, const std::string& value) {
    if (equal_ignoring_case(name, "boundary")) boundary = value;
  });
  if (boundary && (boundary->empty() || boundary->size() > 200)) return std::nullopt;
  return boundary;
}

Result<MultipartReader::Event> MultipartReader::next() {
  for (;;) {
    switch (state_) {
      case State::kPreamble: {
        const size_t at = bytes_.find(delimiter_);
        if (at == std::string::npos) {
          if (bytes_.size() > delimiter_.size()) bytes_.erase(0, bytes_.size() - delimiter_.size());
          return Event::kNeedMore;
        }
        bytes_.erase(0, at + delimiter_.size());
        state_ = State::kDelimiter;
        break;
      }
      case State::kDelimiter: {
        if (bytes_.size() < 2) return Event::kNeedMore;
        if (bytes_.starts_with("--")) {
          state_ = State::kOver;
          break;
        }
        const size_t end = bytes_.find("\r\n");
        if (end == std::string::npos && bytes_.size() < kLongestHead) return Event::kNeedMore;
        if (end == std::string::npos || bytes_.find_first_not_of(" \t") < end)
          return fail(Code::kInvalid, "the multipart body is malformed behind a boundary");
        bytes_.erase(0, end);  // the line's end stands before the headers, so that none is found the same way
        state_ = State::kHeaders;
        break;
      }
      case State::kHeaders: return in_headers();
      case State::kBody: return in_body();
      case State::kOver: return Event::kEnd;
    }
  }
}

Result<MultipartReader::Event> MultipartReader::in_headers() {
  const size_t end = bytes_.find("\r\n\r\n");
  if (end == std::string::npos && bytes_.size() < kLongestHead) return Event::kNeedMore;
  if (end == std::string::npos) return fail(Code::kInvalid, "a part's head is too long");
  head_ = PartHead();
  std::string_view lines = std::string_view(bytes_).substr(0, end + 2);
  while (lines.size() > 2) {
    lines.remove_prefix(2);
    const std::string_view line = lines.substr(0, lines.find("\r\n"));
    lines.remove_prefix(line.size());
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !equal_ignoring_case(line.substr(0, colon), "content-disposition")) continue;
    bool extended = false;
    each_parameter(line.substr(colon + 1), [this, &extended](std::string_view name, std::string value) {
      if (equal_ignoring_case(name, "name")) {
        head_.name = unescaped(std::move(value));
      } else if (equal_ignoring_case(name, "filename") && !extended) {
        head_.file_name = unescaped(std::move(value));
      } else if (equal_ignoring_case(name, "filename*")) {
        std::optional<std::string> whole = extended_value(value);
        extended = extended || whole.has_value();
        if (whole) head_.file_name = std::move(whole);
      }
    });
  }
  bytes_.erase(0, end + 2);  // what is left may begin with the delimiter of an empty part
  state_ = State::kBody;
  data_.clear();
  return Event::kPart;
}

MultipartReader::Event MultipartReader::in_body() {
  const size_t at = bytes_.find(delimiter_);
  // The head's last line end is still there: it is none of the content.
  const size_t begin = 2;
  if (at == 0) {  // an empty part whose delimiter shares that line end
    bytes_.erase(0, delimiter_.size());
    state_ = State::kDelimiter;
    return Event::kPartEnd;
  }
  if (at == std::string::npos) {
    if (bytes_.size() <= begin + delimiter_.size()) return Event::kNeedMore;
    const size_t sure = bytes_.size() - delimiter_.size();
    data_ = bytes_.substr(begin, sure - begin);
    bytes_.erase(begin, sure - begin);
    return Event::kData;
  }
  if (at > begin) {
    data_ = bytes_.substr(begin, at - begin);
    bytes_.erase(begin, at - begin);
    return Event::kData;
  }
  bytes_.erase(0, at + delimiter_.size());
  state_ = State::kDelimiter;
  return Event::kPartEnd;
}

}  // namespace bj
