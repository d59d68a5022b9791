// What policies and credentials have in common as JSON: lists of texts, targets, ports, methods and paths, read
// strictly. `where` names the place in messages: "network.rules[2].ports". Failures are Code::kInvalid.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "egress/policy.h"

namespace bj {

tl::unexpected<Error> refused(const std::string& where, const std::string& what);

// A key or text from outside, fit for a message.
std::string shown(std::string_view key);

// Any other key is refused.
Result<void> check_keys(const boost::json::object& object, std::initializer_list<std::string_view> known,
                        const std::string& where);

// A list of strings (and, for ports, numbers); a single one counts as a list of one, null as an empty list.
Result<std::vector<std::string>> strings_of(const boost::json::value& value, const std::string& where);
Result<std::vector<Target>> read_targets(const boost::json::value& value, const std::string& where);
Result<std::vector<PortRange>> read_ports(const boost::json::value& value, const std::string& where);
// "methods" and "paths" of the object, if they are there.
Result<void> read_request_part(const boost::json::object& object, const std::string& where,
                               std::optional<std::vector<std::string>>& methods,
                               std::optional<std::vector<std::string>>& paths);

template <class Items, class Text>
boost::json::array list_of(const Items& items, Text text) {
  boost::json::array list;
  for (const auto& item : items) list.emplace_back(text(item));
  return list;
}

}  // namespace bj
