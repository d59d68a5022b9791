#include "control/repeated_request.h"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "store/crypto.h"

namespace bj {
namespace {

namespace json = boost::json;

template <class T>
json::value or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

}  // namespace

Result<json::object> payload_of_create(const NewSandbox& wanted) {
  if (!wanted.image.empty()) return json::object();
  json::object metadata;
  for (const auto& [key, value] : wanted.metadata) metadata[key] = value;
  const json::array asked{wanted.template_name,
                          or_null(wanted.timeout_s),
                          wanted.on_timeout,
                          std::move(metadata),
                          wanted.user,
                          or_null(wanted.cpus),
                          or_null(wanted.memory_bytes),
                          or_null(wanted.disk_bytes),
                          or_null(wanted.processes),
                          wanted.network,
                          json::array(wanted.credentials.begin(), wanted.credentials.end()),
                          wishes_text(wanted.wishes),
                          wanted.access,
                          wanted.wakes,
                          wanted.details};
  BJ_TRY(const std::string hash, sha256(json::serialize(asked)));
  return json::object{{kAsked, to_hex(hash)}};
}

bool asks_for_the_same(const json::object& first, const json::object& payload) {
  const json::value* const asked = payload.if_contains(kAsked);
  if (asked == nullptr) return first == payload;
  const json::value* const before = first.if_contains(kAsked);
  return before == nullptr || *before == *asked;
}

}  // namespace bj
