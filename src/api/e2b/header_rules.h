// network.rules of E2B's sandboxes: headers that requests to a host get on their way out.
//
//   {"api.example.com": [{"transform": {"headers": {"Authorization": "Bearer ${e2b.secrets.name}"}}}]}
//
// They become what the gate gives to requests (egress/credential.h): over TLS, to that host only, over what the code
// wrote. A secret's value comes back into the sandbox in no answer; a header without one is no secret.
//
// Pure; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "egress/credential.h"

namespace bj::e2b {

struct HeaderRule {
  std::string host;
  std::string header;
  std::string before, after;  // of the secret; without one, `before` is the whole value
  std::string secret;         // its name; empty: none
};

// Of the fields of `network`. kInvalid: they are malformed, or ask for what there is not here.
Result<std::vector<HeaderRule>> read_header_rules(const boost::json::object& network);

std::vector<std::string> secrets_of(const std::vector<HeaderRule>& rules);
// From the fields of `network`, whose rules are well-formed: headers that name it are gone.
void remove_secret(boost::json::object& network, const std::string& secret);

// As the gate takes them. kInvalid: a secret is not among the values, or can't stand in a header.
Result<GateCredentials> gate_credentials(const std::vector<HeaderRule>& rules,
                                         const std::map<std::string, Secret>& secrets);

}  // namespace bj::e2b
