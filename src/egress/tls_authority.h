// The certificate authority of one sandbox: what the gate shows to programs inside when it opens their TLS. Its keys
// live in memory, no longer than the sandbox; only this sandbox is told to trust it, so it is good for nothing
// elsewhere.
//
// One leaf a name, all with the same key, made when first needed. Stays on its gate's thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "egress/tls_pointers.h"

namespace bj {

// What programs inside are to trust, in the forms in which they look for it.
struct TrustedCertificate {
  std::string pem, der;
  std::string hashed_name;  // by which OpenSSL finds it in a directory
};

class TlsAuthority {
 public:
  static Result<std::unique_ptr<TlsAuthority>> create();
  // What save() gave: for a gate that goes on with a sandbox of a server that died.
  static Result<std::unique_ptr<TlsAuthority>> load(const std::string& saved);
  // Its key and its certificate, as text. A secret. The leaves' key is not in it: another one does as well.
  Result<std::string> save() const;

  const TrustedCertificate& certificate() const { return certificate_; }
  // A server's end of a connection that is to be for `name`, HTTP/1.1 only.
  Result<SslPtr> server_end(const std::string& name);

 private:
  TlsAuthority() = default;
  Result<void> describe_root();
  Result<SslContextPtr> context_for(const std::string& name);

  KeyPtr key_;
  KeyPtr leaf_key_;  // made for the first leaf
  X509Ptr root_;
  TrustedCertificate certificate_;
  std::map<std::string, SslContextPtr> contexts_;
};

// The gate's own end of a connection to the real server: its certificate must be good for `name` by what this machine
// trusts (OpenSSL's defaults; SSL_CERT_FILE and SSL_CERT_DIR in our environment), read when first needed.
Result<SslPtr> tls_client_end(const std::string& name);

}  // namespace bj
