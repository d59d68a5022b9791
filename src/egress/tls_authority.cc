#include "egress/tls_authority.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstring>

namespace bj {
namespace {

constexpr size_t kMostNames = 256;
constexpr long kBeforeSeconds = -3600;              // clocks inside and outside are the same, but not to the second
constexpr long kLifeSeconds = 60L * 60 * 24 * 397;  // more than a sandbox lives, no more than clients accept
constexpr std::string_view kProtocol = "\x08http/1.1";
constexpr const char* kCurve = "prime256v1";

using BioPtr = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using NumberPtr = std::unique_ptr<BIGNUM, OpensslFree<BN_clear_free>>;

Result<KeyPtr> new_key() {
  KeyPtr key(EVP_EC_gen(kCurve));
  if (!key) return fail_openssl("making a key");
  return key;
}

// A root's key is taken apart and put together by hand: OpenSSL's encoders and decoders try all that they know of,
// which takes several times as long as making the key. A certificate made so is for writing down: it has no key to
// verify with.
Result<void> set_public_key(X509* certificate, EVP_PKEY* key) {
  unsigned char* point = nullptr;
  const size_t size = EVP_PKEY_get1_encoded_public_key(key, &point);
  if (size == 0) return fail_openssl("a public key");
  if (X509_PUBKEY_set0_param(X509_get_X509_PUBKEY(certificate), OBJ_nid2obj(NID_X9_62_id_ecPublicKey), V_ASN1_OBJECT,
                             OBJ_nid2obj(NID_X9_62_prime256v1), point, static_cast<int>(size)) != 1) {
    OPENSSL_free(point);
    return fail_openssl("a public key");
  }
  return {};
}

Result<std::string> hex_of(EVP_PKEY* key) {
  BIGNUM* number = nullptr;
  if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &number) != 1) return fail_openssl("a private key");
  const NumberPtr owned(number);
  const std::unique_ptr<char, decltype([](char* text) { OPENSSL_clear_free(text, std::strlen(text)); })> hex(
      BN_bn2hex(number));
  if (!hex) return fail_openssl("a private key");
  return std::string(hex.get());
}

// The key of which `hex` is the private half, and the other is in the certificate.
Result<KeyPtr> key_of(const std::string& hex, const X509* certificate) {
  BIGNUM* number = nullptr;
  const bool read = BN_hex2bn(&number, hex.c_str()) == static_cast<int>(hex.size()) && number != nullptr;
  const NumberPtr owned(number);
  const ASN1_BIT_STRING* const point = X509_get0_pubkey_bitstr(certificate);
  const std::unique_ptr<OSSL_PARAM_BLD, OpensslFree<OSSL_PARAM_BLD_free>> parts(OSSL_PARAM_BLD_new());
  if (!read || point == nullptr || !parts ||
      OSSL_PARAM_BLD_push_utf8_string(parts.get(), OSSL_PKEY_PARAM_GROUP_NAME, kCurve, 0) != 1 ||
      OSSL_PARAM_BLD_push_BN(parts.get(), OSSL_PKEY_PARAM_PRIV_KEY, number) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(parts.get(), OSSL_PKEY_PARAM_PUB_KEY, point->data,
                                       static_cast<size_t>(point->length)) != 1)
    return fail_openssl("reading a key");
  const std::unique_ptr<OSSL_PARAM, OpensslFree<OSSL_PARAM_free>> parameters(OSSL_PARAM_BLD_to_param(parts.get()));
  const std::unique_ptr<EVP_PKEY_CTX, OpensslFree<EVP_PKEY_CTX_free>> context(
      EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, parameters.get()) != 1)
    return fail_openssl("reading a key");
  return KeyPtr(key);
}

Result<void> add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  if (extension == nullptr) return fail_openssl("extension " + value);
  const int added = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  if (added != 1) return fail_openssl("extension " + value);
  return {};
}

Result<void> set_serial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return fail_openssl("random bytes");
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7F) | 0x40);  // positive, always as long
  BIGNUM* const number = BN_bin2bn(bytes.data(), bytes.size(), nullptr);
  const bool set = number != nullptr && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  if (!set) return fail_openssl("serial number");
  return {};
}

// Without key, extensions and signature.
Result<X509Ptr> new_certificate(const std::string& common_name) {
  X509Ptr certificate(X509_new());
  if (!certificate) return fail_openssl("making a certificate");
  X509_set_version(certificate.get(), X509_VERSION_3);
  BJ_CHECK(set_serial(certificate.get()));
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), kBeforeSeconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kLifeSeconds);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
  return certificate;
}

Result<std::string> pem_of(X509* certificate) {
  const BioPtr memory(BIO_new(BIO_s_mem()));
  if (!memory || PEM_write_bio_X509(memory.get(), certificate) != 1) return fail_openssl("writing a certificate");
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return std::string(text, static_cast<size_t>(size));
}

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned offered_size, void*) {
  const auto* const ours = reinterpret_cast<const unsigned char*>(kProtocol.data());
  auto* const out = const_cast<unsigned char**>(chosen);
  const int found = SSL_select_next_proto(out, size, ours, kProtocol.size(), offered, offered_size);
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void set_usual_options(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_read_ahead(context, 1);  // a record with one system call instead of two
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

Result<SslContextPtr> client_context() {
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (!context) return fail_openssl("SSL_CTX_new");
  set_usual_options(context.get());
  if (SSL_CTX_set_default_verify_paths(context.get()) != 1) return fail_openssl("reading what this machine trusts");
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const auto* const protocol = reinterpret_cast<const unsigned char*>(kProtocol.data());
  SSL_CTX_set_alpn_protos(context.get(), protocol, kProtocol.size());
  return context;
}

}  // namespace

Result<std::unique_ptr<TlsAuthority>> TlsAuthority::create() {
  std::unique_ptr<TlsAuthority> made(new TlsAuthority());
  BJ_TRY(made->key_, new_key());
  BJ_TRY(made->root_, new_certificate("Belljar gate of this sandbox"));
  X509* const root = made->root_.get();
  BJ_CHECK(set_public_key(root, made->key_.get()));
  X509_set_issuer_name(root, X509_get_subject_name(root));
  BJ_CHECK(add_extension(root, root, NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
  BJ_CHECK(add_extension(root, root, NID_key_usage, "critical,keyCertSign,cRLSign"));
  BJ_CHECK(add_extension(root, root, NID_subject_key_identifier, "hash"));
  if (X509_sign(root, made->key_.get(), EVP_sha256()) == 0) return fail_openssl("signing");
  BJ_CHECK(made->describe_root());
  return made;
}

Result<void> TlsAuthority::describe_root() {
  BJ_TRY(certificate_.pem, pem_of(root_.get()));
  const int size = i2d_X509(root_.get(), nullptr);
  if (size <= 0) return fail_openssl("writing a certificate");
  certificate_.der.resize(static_cast<size_t>(size));
  auto* out = reinterpret_cast<unsigned char*>(certificate_.der.data());
  (void)i2d_X509(root_.get(), &out);
  certificate_.hashed_name =
      fmt::format("{:08x}.0", X509_NAME_hash_ex(X509_get_subject_name(root_.get()), nullptr, nullptr, nullptr));
  return {};
}

Result<std::string> TlsAuthority::save() const {
  BJ_TRY(const std::string key, hex_of(key_.get()));
  return key + "\n" + certificate_.pem;
}

Result<std::unique_ptr<TlsAuthority>> TlsAuthority::load(const std::string& saved) {
  const size_t end = saved.find('\n');
  if (end == std::string::npos) return fail(Code::kInvalid, "this is no authority");
  const BioPtr memory(BIO_new_mem_buf(saved.data() + end, static_cast<int>(saved.size() - end)));
  if (!memory) return fail_openssl("reading an authority");
  std::unique_ptr<TlsAuthority> loaded(new TlsAuthority());
  loaded->root_.reset(PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr));
  if (!loaded->root_) return fail_openssl("reading an authority");
  BJ_TRY(loaded->key_, key_of(saved.substr(0, end), loaded->root_.get()));
  BJ_CHECK(loaded->describe_root());
  return loaded;
}

Result<SslContextPtr> TlsAuthority::context_for(const std::string& name) {
  if (!leaf_key_) {
    BJ_TRY(leaf_key_, new_key());
  }
  BJ_TRY(const X509Ptr leaf, new_certificate(name.size() <= 64 ? name : "a long name"));
  if (X509_set_pubkey(leaf.get(), leaf_key_.get()) != 1) return fail_openssl("a public key");
  X509_set_issuer_name(leaf.get(), X509_get_subject_name(root_.get()));
  BJ_CHECK(add_extension(leaf.get(), root_.get(), NID_basic_constraints, "critical,CA:FALSE"));
  BJ_CHECK(add_extension(leaf.get(), root_.get(), NID_key_usage, "critical,digitalSignature"));
  BJ_CHECK(add_extension(leaf.get(), root_.get(), NID_ext_key_usage, "serverAuth"));
  BJ_CHECK(add_extension(leaf.get(), root_.get(), NID_authority_key_identifier, "keyid:always"));
  BJ_CHECK(add_extension(leaf.get(), root_.get(), NID_subject_alt_name, "DNS:" + name));
  if (X509_sign(leaf.get(), key_.get(), EVP_sha256()) == 0) return fail_openssl("signing");
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (!context) return fail_openssl("SSL_CTX_new");
  set_usual_options(context.get());
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
  if (SSL_CTX_use_certificate(context.get(), leaf.get()) != 1) return fail_openssl("using a certificate");
  if (SSL_CTX_use_PrivateKey(context.get(), leaf_key_.get()) != 1) return fail_openssl("using a key");
  return context;
}

Result<SslPtr> TlsAuthority::server_end(const std::string& name) {
  auto found = contexts_.find(name);
  if (found == contexts_.end()) {
    BJ_TRY(SslContextPtr context, context_for(name));
    if (contexts_.size() >= kMostNames) contexts_.clear();
    found = contexts_.emplace(name, std::move(context)).first;
  }
  SslPtr end(SSL_new(found->second.get()));
  if (!end) return fail_openssl("SSL_new");
  SSL_set_accept_state(end.get());
  return end;
}

Result<SslPtr> tls_client_end(const std::string& name) {
  // Once a process: reading the roots takes longer than a handshake. Not changed afterwards.
  static const Result<SslContextPtr> context = client_context();
  if (!context) return tl::unexpected(context.error());
  SslPtr end(SSL_new(context->get()));
  if (!end) return fail_openssl("SSL_new");
  SSL_set_connect_state(end.get());
  SSL_set_hostflags(end.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (SSL_set1_host(end.get(), name.c_str()) != 1 || SSL_set_tlsext_host_name(end.get(), name.c_str()) != 1)
    return fail_openssl("setting the name " + name);
  return end;
}

}  // namespace bj
