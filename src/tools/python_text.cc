#include "tools/python_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "tools/code_points.h"

namespace bj {
namespace {

namespace json = boost::json;

struct Range {
  char32_t first;
  char32_t last;
};
constexpr Range kUnprintable[] = {
#include "tools/unprintable.inc"
};

bool printable(char32_t c) {
  if (c < 0x7f) return c >= 0x20;
  const auto* range = std::lower_bound(std::begin(kUnprintable), std::end(kUnprintable), c,
                                       [](const Range& r, char32_t value) { return r.last < value; });
  return range == std::end(kUnprintable) || c < range->first;
}

void append_escape(std::string& out, char32_t c) {
  const auto code = static_cast<uint32_t>(c);
  if (c <= 0xff) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", code);
  } else if (c <= 0xffff) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
  } else {
    fmt::format_to(std::back_inserter(out), "\\U{:08x}", code);
  }
}

// JSON's escapes know 16 bits: what is above becomes a pair.
void append_json_escape(std::string& out, char32_t c) {
  if (c > 0xffff) {
    const uint32_t rest = static_cast<uint32_t>(c) - 0x10000;
    fmt::format_to(std::back_inserter(out), "\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<uint32_t>(c));
  }
}

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const char32_t c = take_code_point(text);
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\f': out += "\\f"; break;
      case '\b': out += "\\b"; break;
      default:
        if (c >= 0x20 && c < 0x7f) {
          out += static_cast<char>(c);
        } else {
          append_json_escape(out, c);
        }
    }
  }
  out += '"';
}

std::string json_float(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return python_repr(number);
}

// One walk over a value; repr() and json.dumps() differ in the leaves and the separators.
class Writer {
 public:
  enum class Language { kPython, kJson };
  Writer(Language language, KeyOrder order, JsonSpacing spacing)
      : language_(language),
        order_(order),
        comma_(spacing == JsonSpacing::kSpaced ? ", " : ","),
        colon_(spacing == JsonSpacing::kSpaced ? ": " : ":") {}

  void write(const json::value& value) {
    switch (value.kind()) {
      case json::kind::null: out_ += python() ? "None" : "null"; break;
      case json::kind::bool_: out_ += boolean(value.get_bool()); break;
      case json::kind::int64: out_ += fmt::format("{}", value.get_int64()); break;
      case json::kind::uint64: out_ += fmt::format("{}", value.get_uint64()); break;
      case json::kind::double_:
        out_ += python() ? python_repr(value.get_double()) : json_float(value.get_double());
        break;
      case json::kind::string: text(value.get_string()); break;
      case json::kind::array: array(value.get_array()); break;
      case json::kind::object: object(value.get_object()); break;
    }
  }
  std::string take() { return std::move(out_); }

 private:
  bool python() const { return language_ == Language::kPython; }
  const char* boolean(bool value) const {
    if (python()) return value ? "True" : "False";
    return value ? "true" : "false";
  }
  void text(std::string_view value) {
    if (python()) {
      out_ += python_repr(value);
    } else {
      append_json_text(out_, value);
    }
  }
  void array(const json::array& items) {
    out_ += '[';
    for (size_t i = 0; i < items.size(); ++i) {
      if (i != 0) out_ += comma_;
      write(items[i]);
    }
    out_ += ']';
  }
  void object(const json::object& members) {
    std::vector<const json::key_value_pair*> pairs;
    pairs.reserve(members.size());
    for (const auto& pair : members) pairs.push_back(&pair);
    // UTF-8's order of bytes is the order of code points, which is Python's.
    if (order_ == KeyOrder::kSorted) {
      std::sort(pairs.begin(), pairs.end(),
                [](const auto* a, const auto* b) { return std::string_view(a->key()) < std::string_view(b->key()); });
    }
    out_ += '{';
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (i != 0) out_ += comma_;
      text(pairs[i]->key());
      out_ += colon_;
      write(pairs[i]->value());
    }
    out_ += '}';
  }

  Language language_;
  KeyOrder order_;
  const char* comma_;
  const char* colon_;
  std::string out_;
};

}  // namespace

std::string python_repr(std::string_view text) {
  const bool single = text.find('\'') == text.npos || text.find('"') != text.npos;
  const char quote = single ? '\'' : '"';
  std::string out(1, quote);
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t c = take_code_point(text);
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (printable(c)) {
      out += before.substr(0, before.size() - text.size());
    } else {
      append_escape(out, c);
    }
  }
  out += quote;
  return out;
}

std::string python_repr(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  char buffer[40];
  const double size = std::fabs(number);
  const bool exponent = size != 0 && (size < 1e-4 || size >= 1e16);
  const auto format = exponent ? std::chars_format::scientific : std::chars_format::fixed;
  const char* end = std::to_chars(buffer, buffer + sizeof buffer, number, format).ptr;
  std::string text(buffer, static_cast<size_t>(end - buffer));
  if (!exponent && text.find('.') == text.npos) text += ".0";
  return text;
}

std::string python_repr(const json::value& value) {
  Writer writer(Writer::Language::kPython, KeyOrder::kAsGiven, JsonSpacing::kSpaced);
  writer.write(value);
  return writer.take();
}

std::string python_str(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : python_repr(value);
}

std::string python_json(const json::value& value, KeyOrder order, JsonSpacing spacing) {
  Writer writer(Writer::Language::kJson, order, spacing);
  writer.write(value);
  return writer.take();
}

std::string_view python_type_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return "NoneType";
    case json::kind::bool_: return "bool";
    case json::kind::int64:
    case json::kind::uint64: return "int";
    case json::kind::double_: return "float";
    case json::kind::string: return "str";
    case json::kind::array: return "list";
    case json::kind::object: return "dict";
  }
  return "object";
}

size_t python_length(std::string_view text) {
  size_t count = 0;
  for (; !text.empty(); ++count) take_code_point(text);
  return count;
}

std::string_view python_prefix(std::string_view text, size_t count) {
  std::string_view rest = text;
  for (; count > 0 && !rest.empty(); --count) take_code_point(rest);
  return text.substr(0, text.size() - rest.size());
}

}  // namespace bj
