#include "api/e2b/page_token.h"

#include "server/target.h"
#include "store/crypto.h"

namespace bj::e2b {

std::string page_token(const std::string& time, const std::string& id, Order order) {
  return base64_url(time + "__" + id + (order == Order::kAscending ? "__asc" : ""));
}

Result<std::string> read_page_token(const std::string& token, Order order) {
  std::string padded = token;
  for (char& c : padded) c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (padded.size() % 4 != 0) padded += '=';
  const auto wrong = [] { return fail(Code::kInvalid, "nextToken is not one of this list"); };
  const std::optional<std::string> text = lenient_base64(padded);
  if (!text) return wrong();
  const size_t first = text->find("__");
  if (first == std::string::npos) return wrong();
  const size_t second = text->find("__", first + 2);
  const bool ascending = second != std::string::npos && text->substr(second) == "__asc";
  if (ascending != (order == Order::kAscending) || (second != std::string::npos && !ascending)) return wrong();
  return text->substr(first + 2, second == std::string::npos ? second : second - first - 2);
}

Result<std::map<std::string, std::string>> read_metadata_filter(const std::string& text) {
  BJ_TRY(const Parameters pairs, parse_query(text));
  std::map<std::string, std::string> wanted;
  for (const auto& [key, value] : pairs) {
    BJ_TRY(const std::string name, percent_decoded(key));
    BJ_TRY(wanted[name], percent_decoded(value));
  }
  return wanted;
}

}  // namespace bj::e2b
