// Owners of OpenSSL's objects, and its errors as ours.
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>

#include "base/error.h"

namespace bj {

template <auto kFree>
struct OpensslFree {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using SslPtr = std::unique_ptr<SSL, OpensslFree<SSL_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>>;
using X509Ptr = std::unique_ptr<X509, OpensslFree<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;

// Why the last call failed; empties the thread's list of errors.
inline std::string openssl_reason() {
  const unsigned long first = ERR_get_error();
  ERR_clear_error();
  const char* const text = first == 0 ? nullptr : ERR_reason_error_string(first);
  return text == nullptr ? "unknown error" : text;
}

inline tl::unexpected<Error> fail_openssl(const std::string& what) {
  return fail(Code::kInternal, what + ": " + openssl_reason());
}

}  // namespace bj
