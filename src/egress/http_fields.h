// The lines of HTTP/1.x heads and trailers, read strictly: what requests, responses and the ends of chunked bodies have
// in common. A folded line, a space before a colon, a control character or a name that differs from one about length
// only by an underscore is a complaint: two readers could understand it differently.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bj {

inline constexpr size_t kMaxHttpHead = 32 * 1024;
inline constexpr size_t kMaxHttpFields = 200;

struct HttpField {
  std::string name;   // lower case
  std::string value;  // without spaces around it
};

using HttpFields = std::vector<HttpField>;
using HttpComplaint = const char*;  // null: none

std::string lower_case(std::string_view text);
bool is_http_token(std::string_view text);
// The entries of a comma-separated list, in lower case.
std::vector<std::string> http_list(std::string_view list);

// One line without its end, appended to `fields`.
HttpComplaint read_http_field(std::string_view line, HttpFields& fields);
// Every line but the first of a head that ends with an empty line. `bytes` begins behind the first line's CR LF.
HttpComplaint read_http_fields(std::string_view bytes, HttpFields& fields);
// "18", nothing else.
HttpComplaint read_content_length(std::string_view text, unsigned long& value);

// The first of that name; null if there is none.
const std::string* find_http_field(const HttpFields& fields, std::string_view lower_case_name);
// The only one of that name; null if there is none. Several: `complaint` is set.
const std::string* only_http_field(const HttpFields& fields, std::string_view lower_case_name, HttpComplaint& complaint,
                                   HttpComplaint if_several);

// Where a head that ends with an empty line ends, looked for in pieces: bytes that arrived once are not looked at
// again.
class HttpHeadEnd {
 public:
  enum class Status { kNeedMore, kFound, kBareLineFeed, kTooLong };
  // `bytes`: everything from the start of the head. kFound: size() is that of the head, empty line included.
  Status look(std::string_view bytes);
  size_t size() const { return line_begin_; }
  // A line was complete: the first begins at 0.
  bool has_line() const { return line_begin_ != 0; }

 private:
  size_t searched_ = 0;    // no line ends before it that was not looked at
  size_t line_begin_ = 0;  // of the line that is not complete yet
};

}  // namespace bj
