#include "server/tls.h"

namespace bj {
namespace {

using Tls = boost::asio::ssl::context;

// Forward secrecy and authenticated encryption only. TLS 1.3 has nothing else.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

}  // namespace

Result<std::unique_ptr<Tls>> make_tls_context(const TlsFiles& files) {
  auto context = std::make_unique<Tls>(Tls::tls_server);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_cipher_list(native, kCiphers);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  boost::system::error_code error;
  (void)context->use_certificate_chain_file(files.certificate, error);
  if (error) return fail(Code::kInvalid, "the certificate " + files.certificate + " can't be used: " + error.message());
  (void)context->use_private_key_file(files.key, Tls::pem, error);
  if (error) return fail(Code::kInvalid, "the key " + files.key + " can't be used: " + error.message());
  if (SSL_CTX_check_private_key(native) != 1)
    return fail(Code::kInvalid, "the key " + files.key + " does not belong to the certificate " + files.certificate);
  return context;
}

}  // namespace bj
