#include "api/preview/tls_client.h"

#include <openssl/ssl.h>

namespace bj::preview {
namespace {

constexpr size_t kPiece = 16 * 1024;
constexpr size_t kMostUnsent = 64 * 1024;

bool wants_more(const SSL* ssl, int outcome) {
  const int reason = SSL_get_error(ssl, outcome);
  return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE;
}

}  // namespace

void TlsClient::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }

Result<std::unique_ptr<TlsClient>> TlsClient::create() {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL* const ssl = context ? SSL_new(context.get()) : nullptr;
  if (ssl == nullptr) return fail(Code::kInternal, "SSL_new");
  std::unique_ptr<TlsClient> client(new TlsClient(ssl));
  SSL_set_verify(ssl, SSL_VERIFY_NONE, nullptr);
  SSL_set_options(ssl, SSL_OP_NO_RENEGOTIATION);
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl, in, out);  // they are its own from here on
  if (in == nullptr || out == nullptr) return fail(Code::kInternal, "BIO_new");
  SSL_set_connect_state(ssl);
  return client;
}

void TlsClient::feed(std::string_view bytes) {
  BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
}

std::string TlsClient::outgoing() {
  BIO* const out = SSL_get_wbio(ssl_.get());
  std::string bytes(BIO_ctrl_pending(out), '\0');
  const int n = bytes.empty() ? 0 : BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
  bytes.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return bytes;
}

Result<bool> TlsClient::shake_hands() {
  const int outcome = SSL_do_handshake(ssl_.get());
  if (outcome == 1) return true;
  if (wants_more(ssl_.get(), outcome)) return false;
  return fail(Code::kUnavailable, "The port does not speak TLS");
}

bool TlsClient::put(std::string_view plain) {
  return plain.empty() || SSL_write(ssl_.get(), plain.data(), static_cast<int>(plain.size())) > 0;
}

std::optional<std::string> TlsClient::take() {
  std::string plain(kPiece, '\0');
  const int n = SSL_read(ssl_.get(), plain.data(), static_cast<int>(plain.size()));
  // One that only ever asks for new keys would have us gather what we are to say to that.
  if (BIO_ctrl_pending(SSL_get_wbio(ssl_.get())) > kMostUnsent) return std::string();
  if (n <= 0 && wants_more(ssl_.get(), n)) return std::nullopt;
  plain.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return plain;
}

}  // namespace bj::preview
