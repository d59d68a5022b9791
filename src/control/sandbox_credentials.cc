#include "control/sandbox_credentials.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <iterator>

namespace bj {
namespace {

namespace json = boost::json;

// The row as if it named one credential alone; and as if it named none, for what stands in its details.
std::vector<SandboxRow> one_by_one(const SandboxRow& row) {
  std::vector<SandboxRow> parts;
  json::error_code bad;
  const json::value names = json::parse(row.credentials, bad);
  if (!bad && names.is_array()) {
    for (const json::value& name : names.get_array()) {
      parts.push_back(row);
      parts.back().credentials = json::serialize(json::array{name});
      parts.back().details = "{}";
    }
  }
  parts.push_back(row);
  parts.back().credentials = "[]";
  return parts;
}

}  // namespace

SandboxCredentials credentials_there(const ReadCredentials& read, const SandboxRow& row) {
  if (Result<SandboxCredentials> all = read(row)) return std::move(*all);
  SandboxCredentials there;
  for (const SandboxRow& part : one_by_one(row)) {
    Result<SandboxCredentials> some = read(part);
    if (!some) continue;
    std::move(some->gate.begin(), some->gate.end(), std::back_inserter(there.gate));
    there.placeholders.merge(some->placeholders);
  }
  return there;
}

}  // namespace bj
