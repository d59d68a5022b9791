// Ed25519 keys: the one that this installation signs the audit's heads with, and those that it believes.
//
// The private key is a PEM file (PKCS #8), 0600, made at first need; whoever has it can sign any history. The public
// key is for keeping elsewhere, with the signed heads. Objects may be used by many threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

using EVP_PKEY = struct evp_pkey_st;

namespace bj {

class PublicKey {
 public:
  static Result<PublicKey> from_pem(const std::string& pem);

  const std::string& pem() const { return pem_; }
  // The first 16 hexadecimal digits of the SHA-256 of its 32 bytes.
  const std::string& id() const { return id_; }
  bool verifies(std::string_view text, std::string_view signature) const;

 private:
  friend class SigningKey;
  static Result<PublicKey> of(std::shared_ptr<EVP_PKEY> key);

  std::shared_ptr<EVP_PKEY> key_;
  std::string pem_;
  std::string id_;
};

class SigningKey {
 public:
  // Makes the file if there is none. Refuses (kDenied) one that others may read.
  static Result<SigningKey> open(const std::string& path);

  const PublicKey& public_key() const { return public_; }
  Result<std::string> sign(std::string_view text) const;  // 64 bytes

 private:
  std::shared_ptr<EVP_PKEY> key_;
  PublicKey public_;
};

}  // namespace bj
