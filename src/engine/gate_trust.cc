#include "engine/gate_trust.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <memory>

#include "engine/java_keystore.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr const char* kDirectory = "/etc/ssl/certs";
constexpr const char* kUsualBundle = "/etc/ssl/certs/ca-certificates.crt";
constexpr const char* kJavaKeystore = "/etc/ssl/certs/java/cacerts";
constexpr size_t kLargestKeystore = 8u << 20;
// Of Debian and Alpine, Red Hat, SUSE.
constexpr std::array kBundles = {kUsualBundle, "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"};

// What is needed of the certificate: its encoded form, and the name by which OpenSSL finds it in a directory.
struct Facts {
  std::string der;
  std::string hashed_name;
};

Result<Facts> facts_of(const std::string& certificate) {
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> memory(
      BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size())), BIO_free_all);
  const std::unique_ptr<X509, decltype(&X509_free)> read(PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr),
                                                         X509_free);
  if (!read) return fail(Code::kInternal, "the gate's certificate can't be read");
  Facts facts;
  facts.hashed_name =
      fmt::format("{:08x}.0", X509_NAME_hash_ex(X509_get_subject_name(read.get()), nullptr, nullptr, nullptr));
  facts.der.resize(static_cast<size_t>(i2d_X509(read.get(), nullptr)));
  auto* out = reinterpret_cast<unsigned char*>(facts.der.data());
  (void)i2d_X509(read.get(), &out);
  return facts;
}

class Writer {
 public:
  Writer(WardenClient& warden, uid_t uid, gid_t gid) : warden_(warden), uid_(uid), gid_(gid) {}

  Task<Result<void>> write(std::string path, int flags, std::string text) {
    BJ_CO_TRY(const Fd file, co_await warden_.open(path, O_WRONLY | flags, 0644, uid_, gid_, FileType::kRegular));
    co_return write_all(file.get(), text, path);
  }
  Task<Result<std::string>> read(std::string path) {
    BJ_CO_TRY(const Fd file, co_await warden_.open(path, O_RDONLY, 0, uid_, gid_, FileType::kRegular));
    co_return read_all(file.get(), kLargestKeystore, path);
  }
  Task<void> make_directories() {
    for (const char* path : {"/etc", "/etc/ssl", kDirectory})
      (void)co_await warden_.make_directory(path, 0755, uid_, gid_);
  }

 private:
  WardenClient& warden_;
  uid_t uid_;
  gid_t gid_;
};

// Where Debian's Java keeps what it trusts. Another one, or one in another format, does not trust what the gate opens.
Task<void> add_to_java(Writer& writer, const std::string& der) {
  const Result<std::string> keystore = co_await writer.read(kJavaKeystore);
  if (!keystore) co_return;
  const Result<std::string> added = with_trusted_certificate(*keystore, "belljar", der);
  if (added) (void)co_await writer.write(kJavaKeystore, O_TRUNC, *added);
}

}  // namespace

Task<Result<TrustVariables>> add_trust(WardenClient& warden, std::string certificate, uid_t uid, gid_t gid) {
  Writer writer(warden, uid, gid);
  BJ_CO_TRY(const Facts facts, facts_of(certificate));
  const std::string alone = std::string(kDirectory) + "/" + facts.hashed_name;
  co_await writer.make_directories();
  const Result<void> written = co_await writer.write(alone, O_CREAT | O_TRUNC, certificate);
  if (!written) {
    co_return fail(Code::kUnavailable,
                   "the gate's certificate can't be put into this template, which needs a directory /etc/ssl/certs: " +
                       written.error().what);
  }
  std::string bundle;
  for (const char* path : kBundles) {
    const Result<void> added = co_await writer.write(path, O_APPEND, "\n" + certificate);
    if (added && bundle.empty()) bundle = path;
  }
  if (bundle.empty()) {  // an image without roots: it trusts what the gate opens, and nothing else
    bundle = kUsualBundle;
    BJ_CO_CHECK(co_await writer.write(bundle, O_CREAT | O_TRUNC, certificate));
  }
  co_await add_to_java(writer, facts.der);
  co_return TrustVariables{{"SSL_CERT_FILE", bundle},     {"REQUESTS_CA_BUNDLE", bundle},
                           {"CURL_CA_BUNDLE", bundle},    {"NODE_EXTRA_CA_CERTS", alone},
                           {"npm_config_cafile", bundle}, {"GIT_SSL_CAINFO", bundle},
                           {"PIP_CERT", bundle}};
}

}  // namespace bj
