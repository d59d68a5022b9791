// A credential as it is written and as a call gets it: the gate's binding (egress/credential_json.h) and, besides, the
// environment variable of the call that receives the placeholder. The value is never part of what is written out.
//
//   {"hosts": ["api.github.com"], "header": "Authorization", "format": "Bearer {}", "variable": "GITHUB_TOKEN"}
//
// Pure; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "egress/credential.h"

namespace bj {

struct CallCredential {
  GateCredential gate;
  std::string variable;  // empty: none
};
using CallCredentials = std::vector<CallCredential>;

// Without name and value. A variable without a placeholder gets a random one. Failures are kInvalid.
Result<CallCredential> read_binding(boost::json::object binding);
// As read_binding reads it.
boost::json::object binding_json(const CallCredential& credential);

// Gives it its name and its value; both are checked, and no failure holds the value.
Result<void> complete(CallCredential& credential, std::string name, Secret value);
// A binding that has the value among its keys: {"value": ..., "hosts": ...}.
Result<CallCredential> read_credential(const std::string& name, boost::json::object object);

}  // namespace bj
