// What E2B's clients ask for when they make a sandbox or change its network, as our own words for it.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "control/sandbox_manager.h"
#include "server/request.h"

namespace bj::e2b {

enum class ApiVersion { kFirst, kSecond };

// kInvalid or kUnprocessable: a field is wrong, or asks for what there is not here.
Result<NewSandbox> read_new_sandbox(const HttpRequest& request, ApiVersion version);

struct NetworkWishes {
  std::string policy = "null";  // JSON, as SandboxRow::network
  std::string access = "public";
  boost::json::object asked;  // the fields as they came, to be shown again
};
// The fields of `network` and allow_internet_access.
Result<NetworkWishes> read_network(const boost::json::object* network, std::optional<bool> internet);

// References of templates are written in any case.
std::string lower_case(std::string text);

}  // namespace bj::e2b
