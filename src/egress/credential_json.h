// Where a credential is bound, as JSON, read strictly. Its name and value are kept elsewhere: never in this text.
// docs/network.md has the format.
//
//   {"hosts": ["api.example.com"], "header": "Authorization", "format": "Bearer {}"}
//   {"hosts": ["*.example.org"], "ports": [8443], "methods": ["GET"], "paths": ["/v1/*"],
//    "query": "key", "placeholder": "demo-key-0001"}
//   {"hosts": ["api.example.net"], "body": true, "placeholder": "demo-key-0001"}
#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "egress/credential.h"

namespace bj {

// Without name and value; both must be checked and put in before it is used. Failures are Code::kInvalid.
Result<GateCredential> parse_credential_binding(const boost::json::value& value);
Result<GateCredential> parse_credential_binding_text(std::string_view text);

// As parse_credential_binding reads it; never the value.
boost::json::object binding_json(const GateCredential& credential);

// Letters, digits, ".", "_", "-", at most 64: it stands in receipts and on command lines.
Result<void> check_credential_name(std::string_view name);
// Long enough to be told from ordinary text in answers; visible ASCII, what a header can hold. The message never holds
// the value.
Result<void> check_credential_value(std::string_view value);

}  // namespace bj
