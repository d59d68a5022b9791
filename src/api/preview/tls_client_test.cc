#include "api/preview/tls_client.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace bj::preview {
namespace {

// A server in memory, with a certificate that nobody has signed.
class Server {
 public:
  Server() : context_(SSL_CTX_new(TLS_server_method())) {
    EVP_PKEY* const key = EVP_EC_gen("P-256");
    X509* const certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    SSL_CTX_use_certificate(context_, certificate);
    SSL_CTX_use_PrivateKey(context_, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
    ssl_ = SSL_new(context_);
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_);
  }
  ~Server() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  SSL* ssl() { return ssl_; }
  void feed(const std::string& bytes) { BIO_write(SSL_get_rbio(ssl_), bytes.data(), static_cast<int>(bytes.size())); }
  std::string outgoing() {
    std::string bytes(BIO_ctrl_pending(SSL_get_wbio(ssl_)), '\0');
    if (!bytes.empty()) BIO_read(SSL_get_wbio(ssl_), bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  }

 private:
  SSL_CTX* context_;
  SSL* ssl_ = nullptr;
};

class TlsClientTest : public testing::Test {
 protected:
  void SetUp() override {
    for (bool done = false; !done;) {
      done = client_->shake_hands().value();
      server_.feed(client_->outgoing());
      SSL_do_handshake(server_.ssl());
      client_->feed(server_.outgoing());
    }
  }

  Server server_;
  std::unique_ptr<TlsClient> client_ = std::move(TlsClient::create().value());
};

TEST_F(TlsClientTest, WhatIsSaidComesThroughAndASilenceIsNoEnd) {
  EXPECT_FALSE(client_->take());
  ASSERT_TRUE(client_->put("asked"));
  server_.feed(client_->outgoing());
  char heard[16] = {};
  EXPECT_EQ(SSL_read(server_.ssl(), heard, sizeof heard), 5);
  EXPECT_STREQ(heard, "asked");
  SSL_write(server_.ssl(), "answered", 8);
  client_->feed(server_.outgoing());
  EXPECT_EQ(client_->take().value(), "answered");
  SSL_shutdown(server_.ssl());
  client_->feed(server_.outgoing());
  EXPECT_EQ(client_->take().value(), "");
}

TEST_F(TlsClientTest, OneThatOnlyEverWantsNewKeysIsLeft) {
  std::optional<std::string> taken;
  int asked = 0;
  for (; !taken && asked < 100'000; ++asked) {
    SSL_key_update(server_.ssl(), SSL_KEY_UPDATE_REQUESTED);
    SSL_do_handshake(server_.ssl());
    client_->feed(server_.outgoing());
    taken = client_->take();
  }
  EXPECT_EQ(taken, "") << asked;
}

TEST(TlsClientErrorTest, WhatIsNoTlsIsToldSo) {
  const auto client = std::move(TlsClient::create().value());
  ASSERT_FALSE(client->shake_hands().value());
  client->feed("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_FALSE(client->shake_hands());
}

}  // namespace
}  // namespace bj::preview
