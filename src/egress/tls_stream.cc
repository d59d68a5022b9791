#include "egress/tls_stream.h"

#include <openssl/bio.h>

#include <array>

#include "sys/bytes.h"

namespace bj {

// OpenSSL's view of the socket. Its own would raise SIGPIPE.
struct SocketBio {
  static int write(BIO* bio, const char* bytes, int size) {
    auto* const stream = static_cast<TlsStream*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    if (!stream->socket_.is_open()) return -1;
    const Moved sent = send_some(stream->socket_.native_handle(), {bytes, static_cast<size_t>(size)});
    if (sent.not_now()) BIO_set_retry_write(bio);
    stream->bytes_out_ += sent.size;
    return sent.ok() ? static_cast<int>(sent.size) : -1;
  }
  static int read(BIO* bio, char* bytes, int size) {
    auto* const stream = static_cast<TlsStream*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    if (!stream->socket_.is_open()) return -1;
    const Moved received = receive_some(stream->socket_.native_handle(), bytes, static_cast<size_t>(size));
    if (received.not_now()) BIO_set_retry_read(bio);
    if (received.ended()) {
      BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
      stream->ended_silently_ = true;
    }
    stream->bytes_in_ += received.size;
    return received.ok() ? static_cast<int>(received.size) : -1;
  }
  static long control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }
  static const BIO_METHOD* method() {
    static BIO_METHOD* const made = [] {
      BIO_METHOD* const one = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket of a gate");
      BIO_meth_set_write(one, write);
      BIO_meth_set_read(one, read);
      BIO_meth_set_ctrl(one, control);
      return one;
    }();
    return made;
  }
};

TlsStream::TlsStream(Socket& socket, SslPtr ssl) : socket_(socket), ssl_(std::move(ssl)) {
  boost::system::error_code ignored;
  socket_.native_non_blocking(true, ignored);
  BIO* const bio = BIO_new(SocketBio::method());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
}

Task<bool> TlsStream::wait_after(int result) {
  const int wanted = SSL_get_error(ssl_.get(), result);
  if (wanted != SSL_ERROR_WANT_READ && wanted != SSL_ERROR_WANT_WRITE) co_return false;
  if (!socket_.is_open()) co_return false;
  const auto [error] =
      co_await socket_.async_wait(wanted == SSL_ERROR_WANT_READ ? Socket::wait_read : Socket::wait_write, kNoThrow);
  co_return !error && socket_.is_open();
}

Task<Result<void>> TlsStream::handshake() {
  while (true) {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    if (result == 1) co_return Result<void>();
    if (co_await wait_after(result)) continue;
    const long verified = SSL_get_verify_result(ssl_.get());
    if (verified != X509_V_OK) {
      ERR_clear_error();
      co_return fail(Code::kDenied,
                     std::string("its certificate is not good: ") + X509_verify_cert_error_string(verified));
    }
    co_return fail(Code::kUnavailable, "TLS failed: " + openssl_reason());
  }
}

Task<Result<size_t>> TlsStream::read(std::string& into) {
  while (true) {
    static thread_local std::array<char, 16 * 1024> bytes;  // not in use across an await
    ERR_clear_error();
    const int size = SSL_read(ssl_.get(), bytes.data(), bytes.size());
    if (size > 0) {
      into.append(bytes.data(), static_cast<size_t>(size));
      OPENSSL_cleanse(bytes.data(), static_cast<size_t>(size));
      co_return static_cast<size_t>(size);
    }
    if (SSL_get_error(ssl_.get(), size) == SSL_ERROR_ZERO_RETURN) co_return size_t{0};
    if (!co_await wait_after(size)) co_return fail(Code::kUnavailable, "the connection was cut: " + openssl_reason());
  }
}

Task<bool> TlsStream::write(asio::const_buffer bytes) {
  while (bytes.size() > 0) {
    ERR_clear_error();
    const int size = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(std::min<size_t>(bytes.size(), 1u << 20)));
    if (size > 0)
      bytes += static_cast<size_t>(size);
    else if (!co_await wait_after(size))
      co_return false;
  }
  co_return true;
}

void TlsStream::say_goodbye() {
  ERR_clear_error();
  if (SSL_is_init_finished(ssl_.get())) (void)SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

}  // namespace bj
