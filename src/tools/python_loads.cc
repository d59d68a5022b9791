#include "tools/python_loads.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

#include "tools/code_points.h"
#include "tools/python_text.h"

namespace bj {
namespace {

namespace json = boost::json;

bool digit(char c) { return c >= '0' && c <= '9'; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<json::value> document() {
    if (text_.starts_with("\xef\xbb\xbf")) return wrong("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0);
    skip_space();
    BJ_TRY(json::value result, value(0));
    skip_space();
    if (at_ != text_.size()) return wrong("Extra data", at_);
    return result;
  }

 private:
  // Positions are told in characters, as Python counts.
  tl::unexpected<Error> wrong(const char* what, size_t position) const {
    const std::string_view before = text_.substr(0, position);
    const size_t newline = before.rfind('\n');
    const size_t line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
    const size_t column = 1 + python_length(newline == before.npos ? before : before.substr(newline + 1));
    return fail(Code::kInvalid,
                fmt::format("{}: line {} column {} (char {})", what, line, column, python_length(before)));
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) ++at_;
  }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Result<json::value> value(size_t depth) {
    if (depth > kMaxJsonDepth) return wrong("Nested too deeply", at_);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    switch (peek()) {
      case '"': return text();
      case '{': return object(depth);
      case '[': return array(depth);
      default: break;
    }
    if (take("null")) return json::value(nullptr);
    if (take("true")) return json::value(true);
    if (take("false")) return json::value(false);
    if (take("NaN")) return json::value(std::numeric_limits<double>::quiet_NaN());
    if (take("Infinity")) return json::value(kInfinity);
    if (take("-Infinity")) return json::value(-kInfinity);
    return number();
  }

  Result<json::value> array(size_t depth) {
    json::array items;
    ++at_;
    skip_space();
    if (peek() == ']') return ++at_, json::value(std::move(items));
    while (true) {
      BJ_TRY(json::value item, value(depth + 1));
      items.push_back(std::move(item));
      skip_space();
      if (peek() == ']') return ++at_, json::value(std::move(items));
      if (peek() != ',') return wrong("Expecting ',' delimiter", at_);
      ++at_;
      skip_space();
    }
  }

  Result<json::value> object(size_t depth) {
    json::object members;
    ++at_;
    skip_space();
    if (peek() == '}') return ++at_, json::value(std::move(members));
    while (true) {
      if (peek() != '"') return wrong("Expecting property name enclosed in double quotes", at_);
      BJ_TRY(json::value key, text());
      skip_space();
      if (peek() != ':') return wrong("Expecting ':' delimiter", at_);
      ++at_;
      skip_space();
      BJ_TRY(json::value item, value(depth + 1));
      members[key.get_string()] = std::move(item);
      skip_space();
      if (peek() == '}') return ++at_, json::value(std::move(members));
      if (peek() != ',') return wrong("Expecting ',' delimiter", at_);
      ++at_;
      skip_space();
    }
  }

  Result<json::value> number() {
    const size_t start = at_;
    size_t end = at_ + (peek() == '-' ? 1 : 0);
    const auto is_digit = [&](size_t i) { return i < text_.size() && digit(text_[i]); };
    const auto digits = [&](size_t i) {
      while (is_digit(i)) ++i;
      return i;
    };
    if (!is_digit(end)) return wrong("Expecting value", start);
    end = text_[end] == '0' ? end + 1 : digits(end);
    bool whole = true;
    if (end < text_.size() && text_[end] == '.' && is_digit(end + 1)) {
      end = digits(end + 1);
      whole = false;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      size_t exponent = end + 1;
      if (exponent < text_.size() && (text_[exponent] == '-' || text_[exponent] == '+')) ++exponent;
      if (is_digit(exponent)) {
        end = digits(exponent);
        whole = false;
      }
    }
    at_ = end;
    return convert(text_.substr(start, end - start), whole);
  }

  static json::value convert(std::string_view digits, bool whole) {
    const char* begin = digits.data();
    const char* end = begin + digits.size();
    int64_t small = 0;
    if (whole && std::from_chars(begin, end, small).ec == std::errc()) return small;
    uint64_t large = 0;
    if (whole && std::from_chars(begin, end, large).ec == std::errc()) return large;
    double real = 0;
    if (std::from_chars(begin, end, real).ec == std::errc()) return real;
    return std::strtod(std::string(digits).c_str(), nullptr);  // out of range: 0 or infinity, as Python's float()
  }

  // at_ is at the opening quote; afterwards behind the closing one.
  Result<json::value> text() {
    const size_t begin = at_++;
    std::string out;
    while (true) {
      if (at_ >= text_.size()) return wrong("Unterminated string starting at", begin);
      const char c = text_[at_];
      if (c == '"') return ++at_, json::value(out);
      if (static_cast<unsigned char>(c) < 0x20) return wrong("Invalid control character at", at_);
      if (c != '\\') {
        std::string_view rest = text_.substr(at_);
        append_code_point(out, take_code_point(rest));
        at_ = text_.size() - rest.size();
        continue;
      }
      if (++at_ >= text_.size()) return wrong("Unterminated string starting at", begin);
      BJ_TRY(const char32_t escaped, escape());
      append_code_point(out, escaped);
    }
  }

  // at_ is behind the backslash.
  Result<char32_t> escape() {
    const char c = text_[at_];
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeaning = "\"\\/\b\f\n\r\t";
    if (c != 'u') {
      const size_t index = kNames.find(c);
      if (index == kNames.npos) return wrong("Invalid \\escape", at_ - 1);
      ++at_;
      return static_cast<char32_t>(kMeaning[index]);
    }
    const auto first = hex4(at_ + 1);
    if (!first || at_ + 5 >= text_.size()) return wrong("Invalid \\uXXXX escape", at_);
    at_ += 5;
    if (*first < 0xd800 || *first > 0xdfff) return *first;
    if (*first <= 0xdbff && text_.substr(at_).starts_with("\\u") && at_ + 6 < text_.size()) {
      const auto second = hex4(at_ + 2);
      if (second && *second >= 0xdc00 && *second <= 0xdfff) {
        at_ += 6;
        return 0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00);
      }
    }
    return char32_t{0xfffd};
  }

  std::optional<char32_t> hex4(size_t position) const {
    const std::string_view digits = text_.substr(std::min(position, text_.size()), 4);
    uint32_t code = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || end != digits.data() + digits.size()) return std::nullopt;
    return static_cast<char32_t>(code);
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<json::value> python_loads(std::string_view text) { return Reader(text).document(); }

}  // namespace bj
