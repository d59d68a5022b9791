#include "egress/tls_authority.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace bj {
namespace {

// A client that trusts `root` and wants `name` speaks to `server` in memory. What it says of the certificate.
long verified(const std::string& root, SSL* server, const std::string& name, const char* protocol = "\x08http/1.1") {
  const SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  const std::unique_ptr<BIO, OpensslFree<BIO_free_all>> pem(
      BIO_new_mem_buf(root.data(), static_cast<int>(root.size())));
  const X509Ptr trusted(PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr));
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), trusted.get());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const SslPtr client(SSL_new(context.get()));
  SSL_set_connect_state(client.get());
  SSL_set1_host(client.get(), name.c_str());
  SSL_set_alpn_protos(client.get(), reinterpret_cast<const unsigned char*>(protocol),
                      static_cast<unsigned>(std::strlen(protocol)));
  BIO *near = nullptr, *far = nullptr;
  BIO_new_bio_pair(&near, 0, &far, 0);
  SSL_set_bio(client.get(), near, near);
  SSL_set_bio(server, far, far);
  for (int i = 0; i < 10; ++i) {
    const int done = SSL_do_handshake(client.get());
    const int answered = SSL_do_handshake(server);
    if (done == 1 && answered == 1) return SSL_get_verify_result(client.get());
  }
  const long result = SSL_get_verify_result(client.get());
  return result == X509_V_OK ? -1 : result;
}

TEST(TlsAuthorityTest, ALeafIsGoodForItsNameUnderItsOwnRootOnly) {
  auto ours = TlsAuthority::create(), others = TlsAuthority::create();
  ASSERT_TRUE(ours && others);
  EXPECT_EQ(verified((*ours)->certificate().pem, (*ours)->server_end("a.example")->get(), "a.example"), X509_V_OK);
  EXPECT_EQ(verified((*ours)->certificate().pem, (*ours)->server_end("a.example")->get(), "b.example"),
            X509_V_ERR_HOSTNAME_MISMATCH);
  EXPECT_NE(verified((*others)->certificate().pem, (*ours)->server_end("a.example")->get(), "a.example"), X509_V_OK);
}

TEST(TlsAuthorityTest, OneThatWasSavedIsTheSameAgain) {
  auto before = TlsAuthority::create();
  ASSERT_TRUE(before);
  auto after = TlsAuthority::load(*(*before)->save());
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_EQ((*after)->certificate().pem, (*before)->certificate().pem);
  EXPECT_EQ((*after)->certificate().der, (*before)->certificate().der);
  EXPECT_EQ(verified((*before)->certificate().pem, (*after)->server_end("a.example")->get(), "a.example"), X509_V_OK);
  for (const char* bad : {"", "nothing of the kind", "AB\n", "\n-----BEGIN CERTIFICATE-----"})
    EXPECT_FALSE(TlsAuthority::load(bad)) << bad;
}

TEST(TlsAuthorityTest, ANameAsLongAsNamesMayBeHasALeaf) {
  auto authority = TlsAuthority::create();
  ASSERT_TRUE(authority);
  std::string name = std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + ".example";
  EXPECT_EQ(verified((*authority)->certificate().pem, (*authority)->server_end(name)->get(), name), X509_V_OK);
}

TEST(TlsAuthorityTest, WhoSpeaksOnlyHttp2IsRefusedInsteadOfMisunderstood) {
  auto authority = TlsAuthority::create();
  ASSERT_TRUE(authority);
  EXPECT_EQ(
      verified((*authority)->certificate().pem, (*authority)->server_end("a.example")->get(), "a.example", "\x02h2"),
      -1);
  ERR_clear_error();
}

}  // namespace
}  // namespace bj
