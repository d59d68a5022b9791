#include "egress/http_fields.h"

#include <algorithm>
#include <charconv>

namespace bj {
namespace {

bool is_token_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

// char is signed: what is not ASCII is negative, and allowed.
bool is_value_byte(char c) { return c >= ' ' ? c != 0x7F : c < 0 || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lowered;
}

bool is_http_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_byte);
}

std::vector<std::string> http_list(std::string_view list) {
  std::vector<std::string> tokens;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view token = trimmed(list.substr(begin, end - begin));
    if (!token.empty()) tokens.push_back(lower_case(token));
    begin = end + 1;
  }
  return tokens;
}

HttpComplaint read_http_field(std::string_view line, HttpFields& fields) {
  if (line.starts_with(' ') || line.starts_with('\t')) return "a header line is folded";
  const size_t colon = line.find(':');
  if (colon == line.npos || !is_http_token(line.substr(0, colon))) return "a header's name is malformed";
  if (!std::all_of(line.begin(), line.end(), is_value_byte)) return "a header has a control character";
  if (fields.size() >= kMaxHttpFields) return "there are too many headers";
  HttpField field{lower_case(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1)))};
  std::string dashed = field.name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  if (dashed != field.name && (dashed == "content-length" || dashed == "transfer-encoding"))
    return "a header differs from one about length only by an underscore";
  fields.push_back(std::move(field));
  return nullptr;
}

HttpComplaint read_http_fields(std::string_view bytes, HttpFields& fields) {
  for (size_t begin = 0; true;) {
    const size_t end = bytes.find("\r\n", begin);
    const std::string_view line = bytes.substr(begin, end - begin);
    if (line.empty()) return nullptr;
    if (line.find('\r') != line.npos) return "there is a CR that ends no line";
    if (HttpComplaint complaint = read_http_field(line, fields)) return complaint;
    begin = end + 2;
  }
}

HttpComplaint read_content_length(std::string_view text, unsigned long& value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && stop == text.data() + text.size();
  return text.empty() || text.size() > 18 || !whole ? "the Content-Length is no number" : nullptr;
}

const std::string* find_http_field(const HttpFields& fields, std::string_view lower_case_name) {
  for (const HttpField& field : fields) {
    if (field.name == lower_case_name) return &field.value;
  }
  return nullptr;
}

const std::string* only_http_field(const HttpFields& fields, std::string_view lower_case_name, HttpComplaint& complaint,
                                   HttpComplaint if_several) {
  const std::string* found = nullptr;
  for (const HttpField& field : fields) {
    if (field.name != lower_case_name) continue;
    if (found != nullptr) complaint = if_several;
    found = &field.value;
  }
  return found;
}

HttpHeadEnd::Status HttpHeadEnd::look(std::string_view bytes) {
  const std::string_view looked_at = bytes.substr(0, kMaxHttpHead);
  for (size_t feed = 0; (feed = looked_at.find('\n', searched_)) != looked_at.npos; searched_ = feed + 1) {
    const std::string_view line = looked_at.substr(line_begin_, feed - line_begin_);
    if (!line.ends_with('\r')) return Status::kBareLineFeed;
    line_begin_ = feed + 1;
    if (line.size() == 1) return Status::kFound;
  }
  searched_ = looked_at.size();
  return bytes.size() >= kMaxHttpHead ? Status::kTooLong : Status::kNeedMore;
}

}  // namespace bj
