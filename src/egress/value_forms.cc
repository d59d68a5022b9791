#include "egress/value_forms.h"

#include <algorithm>
#include <cstdint>

namespace bj {
namespace {

constexpr std::string_view kUpper = "0123456789ABCDEF", kLower = "0123456789abcdef";
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

bool is_unreserved(char c) { return kLetters.find(c) != kLetters.npos || c == '-' || c == '.' || c == '_' || c == '~'; }

std::string percent(std::string_view text, std::string_view kept, std::string_view digits) {
  std::string out;
  out.reserve(text.size() * 3);
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (is_unreserved(c) || kept.find(c) != kept.npos)
      out += c;
    else if (c == ' ' && kept.find('+') != kept.npos)
      out += '+';
    else
      out.append({'%', digits[byte >> 4], digits[byte & 15]});
  }
  return out;
}

std::string json_text(std::string_view text, std::string_view as_numbers, std::string_view digits) {
  std::string out;
  out.reserve(text.size() * 6);
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte == 0x7F || as_numbers.find(c) != as_numbers.npos)
      out.append("\\u00").append({digits[byte >> 4], digits[byte & 15]});
    else if (c == '"' || c == '\\')
      out.append({'\\', c});
    else
      out += c;
  }
  return out;
}

std::string with_escaped_slashes(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c == '/' ? "\\/" : std::string(1, c));
  return out;
}

std::string html_escaped(std::string_view text, std::string_view apostrophe, std::string_view quote) {
  std::string out;
  out.reserve(text.size() * 6);
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += quote; break;
      case '\'': out += apostrophe; break;
      default: out += c;
    }
  }
  return out;
}

std::string hexadecimal(std::string_view text, std::string_view digits) {
  std::string out;
  out.reserve(text.size() * 2);
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    out.append({digits[byte >> 4], digits[byte & 15]});
  }
  return out;
}

std::string in_case(std::string_view text, char first, char last, char instead) {
  std::string out(text);
  for (char& c : out) c = c >= first && c <= last ? static_cast<char>(c - first + instead) : c;
  return out;
}

// Every character by its number, between the same marks: "&#107;" or "\u006b".
struct Marks {
  std::string_view before, digits, after;  // no digits: the number is decimal
};

std::string by_numbers(std::string_view text, const Marks& marks) {
  std::string out;
  out.reserve(text.size() * 8);
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    out.append(marks.before);
    if (marks.digits.empty())
      out.append(std::to_string(byte));
    else
      out.append({marks.digits[byte >> 4], marks.digits[byte & 15]});
    out.append(marks.after);
  }
  return out;
}

std::string utf16(std::string_view text, bool big_end_first) {
  std::string out;
  out.reserve(text.size() * 2);
  for (const char c : text) out.append(big_end_first ? std::string{'\0', c} : std::string{c, '\0'});
  return out;
}

// The letters of base64 that `text` alone decides when `before` bytes (modulo 3) stand in front of it.
std::string base64_core(std::string_view text, size_t before, std::string_view last_two) {
  const size_t first = (8 * before + 5) / 6, end = 8 * (before + text.size()) / 6;
  const auto bit = [&](size_t at) {
    const size_t byte = at / 8 - before;
    return (static_cast<uint8_t>(text[byte]) >> (7 - at % 8)) & 1;
  };
  std::string out;
  out.reserve(text.size() * 4 / 3 + 4);
  for (size_t letter = first; letter < end; ++letter) {
    unsigned value = 0;
    for (size_t i = 0; i < 6; ++i) value = value * 2 + static_cast<unsigned>(bit(letter * 6 + i));
    out += value < 62 ? kLetters[value] : last_two[value - 62];
  }
  return out;
}

}  // namespace

std::string percent_encoded(std::string_view text) { return percent(text, "", kUpper); }

std::string json_escaped(std::string_view text) { return json_text(text, "", kLower); }

std::vector<ValueForm> forms_of(std::string_view value) {
  std::vector<ValueForm> forms;
  const auto add = [&](std::string text, bool is_base64 = false) {
    const bool known = std::any_of(forms.begin(), forms.end(), [&](const ValueForm& one) { return one.text == text; });
    if (!known) forms.push_back({std::move(text), is_base64});
  };
  add(std::string(value));
  add(in_case(value, 'a', 'z', 'A'));
  add(in_case(value, 'A', 'Z', 'a'));
  for (const std::string_view digits : {kUpper, kLower}) {
    // Strictly; as encodeURIComponent, urllib's quote and a form do; as a browser's address bar does.
    for (const std::string_view kept : {"", "!'()*", "/", "+", "!$&'()*+,;=:@/?"}) {
      add(percent(value, kept, digits));
      add(percent(percent(value, kept, digits), "", digits));  // an address inside another's query
    }
    // Plainly; as encoders that fear HTML do.
    for (const std::string_view fearful : {"", "<>&", "<>&='", "<>&+'\"`"}) add(json_text(value, fearful, digits));
    add(hexadecimal(value, digits));
    // Everything escaped, needed or not.
    for (const Marks& marks :
         {Marks{"%", digits, ""}, {"\\u00", digits, ""}, {"\\x", digits, ""}, {"&#x", digits, ";"}})
      add(by_numbers(value, marks));
  }
  add(by_numbers(value, {"&#", "", ";"}));
  for (const bool big_end_first : {false, true}) add(utf16(value, big_end_first));
  add(with_escaped_slashes(json_escaped(value)));
  add(html_escaped(value, "&#x27;", "&quot;"));
  add(html_escaped(value, "&#39;", "&#34;"));
  for (const std::string_view last_two : {"+/", "-_"}) {
    for (size_t before = 0; before < 3; ++before) add(base64_core(value, before, last_two), true);
  }
  return forms;
}

}  // namespace bj
