#include "audit/signing_key.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <unistd.h>

#include <algorithm>

#include "base/id.h"
#include "base/secret.h"
#include "store/crypto.h"
#include "sys/private_file.h"

namespace bj {
namespace {

constexpr size_t kMostBytes = 16 << 10;
constexpr size_t kKeyBytes = 32;
constexpr size_t kSignatureBytes = 64;

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Bio = std::unique_ptr<BIO, Free>;
using Digest = std::unique_ptr<EVP_MD_CTX, Free>;
using Key = std::shared_ptr<EVP_PKEY>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

tl::unexpected<Error> fail_crypto(const char* call) { return fail(Code::kInternal, std::string("OpenSSL: ") + call); }

Key owned(EVP_PKEY* key) { return Key(key, EVP_PKEY_free); }

std::string contents_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<size_t>(size)) : std::string();
}

bool is_ed25519(const Key& key) { return key && EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_ED25519; }

Result<Secret> new_private_pem() {
  const Key key = owned(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  const Bio bio(BIO_new(BIO_s_secmem()));
  if (!key || !bio || PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return fail_crypto("a new Ed25519 key");
  return Secret::take(contents_of(bio.get()));
}

// If somebody else made one meanwhile, theirs stays.
Result<void> make(const std::string& path) {
  BJ_TRY(const Secret pem, new_private_pem());
  const std::string aside = path + "." + new_uuid4();
  BJ_CHECK(write_private_file(aside, pem.reveal()));
  return name_once(aside, path);
}

}  // namespace

Result<PublicKey> PublicKey::of(std::shared_ptr<EVP_PKEY> key) {
  if (!is_ed25519(key)) return fail(Code::kInvalid, "this is no Ed25519 key in PEM");
  std::string raw(kKeyBytes, '\0');
  size_t size = raw.size();
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || EVP_PKEY_get_raw_public_key(key.get(), reinterpret_cast<unsigned char*>(raw.data()), &size) != 1 ||
      size != kKeyBytes || PEM_write_bio_PUBKEY(bio.get(), key.get()) != 1)
    return fail_crypto("Ed25519 public key");
  PublicKey made;
  BJ_TRY(const std::string hash, sha256(raw));
  made.id_ = to_hex(hash).substr(0, 16);
  made.pem_ = contents_of(bio.get());
  made.key_ = std::move(key);
  return made;
}

Result<PublicKey> PublicKey::from_pem(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(std::min(pem.size(), kMostBytes))));
  if (!bio) return fail_crypto("BIO_new_mem_buf");
  return of(owned(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr)));
}

bool PublicKey::verifies(std::string_view text, std::string_view signature) const {
  const Digest context(EVP_MD_CTX_new());
  return context && signature.size() == kSignatureBytes &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(text), text.size()) == 1;
}

Result<SigningKey> SigningKey::open(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) BJ_CHECK(make(path));
  BJ_TRY(const Secret pem, read_private_file(path, kMostBytes));
  const Bio bio(BIO_new_mem_buf(pem.reveal().data(), static_cast<int>(pem.reveal().size())));
  if (!bio) return fail_crypto("BIO_new_mem_buf");
  SigningKey key;
  key.key_ = owned(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  if (!is_ed25519(key.key_)) return fail(Code::kInvalid, path + " holds no Ed25519 key: restore it from a backup");
  BJ_TRY(key.public_, PublicKey::of(key.key_));
  return key;
}

Result<std::string> SigningKey::sign(std::string_view text) const {
  const Digest context(EVP_MD_CTX_new());
  std::string signature(kSignatureBytes, '\0');
  size_t size = signature.size();
  if (!context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes_of(text),
                     text.size()) != 1)
    return fail_crypto("Ed25519 signature");
  return signature;
}

}  // namespace bj
