#include "engine/gate_trust.h"

#include <fcntl.h>

#include <array>

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

Task<Result<TrustVariables>> add_trust(WardenClient& warden, TrustedCertificate certificate, uid_t uid, gid_t gid) {
  Writer writer(warden, uid, gid);
  const std::string alone = std::string(kDirectory) + "/" + certificate.hashed_name;
  co_await writer.make_directories();
  const Result<void> written = co_await writer.write(alone, O_CREAT | O_TRUNC, certificate.pem);
  if (!written) {
    co_return fail(Code::kUnavailable,
                   "the gate's certificate can't be put into this template, which needs a directory /etc/ssl/certs: " +
                       written.error().what);
  }
  std::string bundle;
  for (const char* path : kBundles) {
    const Result<void> added = co_await writer.write(path, O_APPEND, "\n" + certificate.pem);
    if (added && bundle.empty()) bundle = path;
  }
  if (bundle.empty()) {  // an image without roots: it trusts what the gate opens, and nothing else
    bundle = kUsualBundle;
    BJ_CO_CHECK(co_await writer.write(bundle, O_CREAT | O_TRUNC, certificate.pem));
  }
  co_await add_to_java(writer, certificate.der);
  co_return TrustVariables{{"SSL_CERT_FILE", bundle},     {"REQUESTS_CA_BUNDLE", bundle},
                           {"CURL_CA_BUNDLE", bundle},    {"NODE_EXTRA_CA_CERTS", alone},
                           {"npm_config_cafile", bundle}, {"GIT_SSL_CAINFO", bundle},
                           {"PIP_CERT", bundle}};
}

}  // namespace bj
