// What a sandbox trusts when its gate opens TLS: the gate's certificate is added to the image's own roots, where
// OpenSSL and what is built on it look for them, and variables name the places for programs that look elsewhere.
//
// All writing goes through the warden: no host code resolves a path inside.
#pragma once

#include <map>
#include <string>

#include "egress/tls_authority.h"
#include "engine/warden_client.h"

namespace bj {

// Where programs find it, as variables for their environment: SSL_CERT_FILE, REQUESTS_CA_BUNDLE and so on.
using TrustVariables = std::map<std::string, std::string>;

// As the user who owns the image's files: root, or without root the sandbox's only user.
Task<Result<TrustVariables>> add_trust(WardenClient& warden, TrustedCertificate certificate, uid_t uid, gid_t gid);

}  // namespace bj
