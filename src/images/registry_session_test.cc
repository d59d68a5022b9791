#include "images/registry_session.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/import/import_digest.h"
#include "providers/http_server_for_test.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr const char* kManifestType = "application/vnd.oci.image.manifest.v1+json";

// A registry on loopback that says what a test has it say.
class RegistrySessionTest : public testing::Test {
 protected:
  using Parts = std::map<std::string, std::string>;  // by the end of the path: a whole response

  RegistrySessionTest() {
    layer_ = "not really a tar";
    config_ = "{}";
    manifest_ =
        R"({"schemaVersion":2,"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:)" +
        sha256_hex(config_) +
        R"(","size":2},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":"sha256:)" +
        sha256_hex(layer_) + R"(","size":)" + std::to_string(layer_.size()) + "}]}";
    parts_["/manifests/latest"] = ok(manifest_, std::string("Content-Type: ") + kManifestType + "\r\n");
    parts_["/blobs/sha256:" + sha256_hex(layer_)] = ok(layer_);
  }

  static std::string ok(const std::string& body, const std::string& headers = "") {
    return HttpServerForTest::response("200 OK", body, headers);
  }
  std::string place() const { return server_.url("").substr(7); }

  template <class Work>
  void run(Work work, std::string user = "") {
    asio::co_spawn(
        io_,
        [&, this]() -> Task<void> {
          RegistryLogin login;
          login.user = user;
          login.password = Secret("pass");
          RegistryAccess access;
          if (listed_) access.listed = {place()};
          RegistrySession session(*client_, access, parse_image_reference(place() + "/small").value(),
                                  std::move(login));
          co_await work(session);
          server_.stop();
        },
        asio::detached);
    io_.run();
  }
  Result<FetchedManifest> manifest(std::string user = "") {
    Result<FetchedManifest> found = fail(Code::kInternal, "nothing");
    run([&](RegistrySession& session) -> Task<void> { found = co_await session.manifest(); }, std::move(user));
    return found;
  }
  Result<void> blob(BlobDescriptor wanted) {
    Result<void> done = fail(Code::kInternal, "nothing");
    file_ = std::make_shared<Fd>(::open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
    run([&](RegistrySession& session) -> Task<void> { done = co_await session.blob(wanted, file_, {}); });
    return done;
  }
  BlobDescriptor layer() const { return {"", sha256_hex(layer_), layer_.size()}; }

  std::string answer(const std::string& request) {
    const std::string path = request.substr(4, request.find(' ', 4) - 4);
    if (!wanted_authorization_.empty() && path.starts_with("/v2/") &&
        request.find("Authorization: " + wanted_authorization_ + "\r\n") == std::string::npos)
      return HttpServerForTest::response("401 Unauthorized", "", "WWW-Authenticate: " + challenge_ + "\r\n");
    for (const auto& [end, response] : parts_) {
      if (path.substr(0, path.find('?')).ends_with(end)) return response;
    }
    return HttpServerForTest::response("404 Not Found", "");
  }

  asio::io_context io_;
  HttpServerForTest server_{io_, [this](const std::string& request) { return answer(request); }};
  std::unique_ptr<HttpClient> client_ = HttpClient::create().value();
  std::string layer_, config_, manifest_, challenge_, wanted_authorization_;
  Parts parts_;
  std::shared_ptr<Fd> file_;
  bool listed_ = true;
};

TEST_F(RegistrySessionTest, AManifestIsReadWithWhatItRefersTo) {
  const auto found = manifest();
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->digest, sha256_hex(manifest_));
  ASSERT_EQ(found->blobs.size(), 2u);
  EXPECT_EQ(found->blobs[1].digest, sha256_hex(layer_));
}

TEST_F(RegistrySessionTest, OfAnIndexTheOneForThisKindOfMachineIsTakenAndVerified) {
  const std::string index =
      R"({"manifests":[{"mediaType":"x","digest":"sha256:)" + std::string(64, '0') +
      R"(","size":1,"platform":{"os":"linux","architecture":"arm64"}},{"mediaType":"x","digest":"sha256:)" +
      sha256_hex(manifest_) + R"(","size":1,"platform":{"os":"linux","architecture":"amd64"}}]})";
  parts_["/manifests/sha256:" + sha256_hex(manifest_)] = parts_["/manifests/latest"];
  parts_["/manifests/latest"] = ok(index, "Content-Type: application/vnd.oci.image.index.v1+json\r\n");
  const auto found = manifest();
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->digest, sha256_hex(manifest_));
}

TEST_F(RegistrySessionTest, AManifestThatIsNotWhatTheIndexPromisedIsRefused) {
  const std::string digest(64, 'a');
  parts_["/manifests/sha256:" + digest] = parts_["/manifests/latest"];
  parts_["/manifests/latest"] = ok(R"({"manifests":[{"mediaType":"x","digest":"sha256:)" + digest +
                                       R"(","size":1,"platform":{"os":"linux","architecture":"amd64"}}]})",
                                   "Content-Type: application/vnd.oci.image.index.v1+json\r\n");
  const auto found = manifest();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kInvalid);
}

TEST_F(RegistrySessionTest, ALayerIsWrittenAndVerified) {
  ASSERT_TRUE(blob(layer()));
  ASSERT_EQ(::lseek(file_->get(), 0, SEEK_SET), 0);
  EXPECT_EQ(*read_all(file_->get(), 1000, "file"), layer_);
}

TEST_F(RegistrySessionTest, ALayerWithOtherContentsIsRefused) {
  parts_["/blobs/sha256:" + sha256_hex(layer_)] = ok("not really a tir");
  EXPECT_EQ(blob(layer()).error().code, Code::kInvalid);
}

TEST_F(RegistrySessionTest, ALayerThatIsLargerThanItsSizeIsCutOffAndRefused) {
  parts_["/blobs/sha256:" + sha256_hex(layer_)] = ok(std::string(1 << 20, 'x'));
  const auto done = blob(layer());
  ASSERT_FALSE(done);
  struct stat info{};
  ASSERT_EQ(::fstat(file_->get(), &info), 0);
  EXPECT_LE(info.st_size, static_cast<off_t>(layer_.size() + 1));
}

TEST_F(RegistrySessionTest, ALayerThatIsTooLargeIsNotAskedFor) {
  BlobDescriptor huge = layer();
  huge.size = 1ull << 40;
  EXPECT_EQ(blob(huge).error().code, Code::kExhausted);
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(RegistrySessionTest, WithoutBeingListedLoopbackIsNotReached) {
  listed_ = false;
  const auto found = manifest();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kDenied) << found.error().what;
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(RegistrySessionTest, ARedirectToAPrivateAddressIsNotFollowed) {
  for (const char* target : {"https://169.254.169.254/latest/meta-data", "https://127.0.0.1:1/x", "https://[::1]/x",
                             "https://10.0.0.1/x", "https://localhost:9/x"}) {
    asio::io_context fresh;
    const std::string to = target;
    parts_["/blobs/sha256:" + sha256_hex(layer_)] =
        HttpServerForTest::response("307 Temporary Redirect", "", "Location: " + to + "\r\n");
    HttpServerForTest server(fresh, [this](const std::string& request) { return answer(request); });
    Result<void> done;
    asio::co_spawn(
        fresh,
        [&]() -> Task<void> {
          const std::string at = server.url("").substr(7);
          RegistrySession session(*client_, {{at}}, parse_image_reference(at + "/small").value(), {});
          done = co_await session.blob(layer(), std::make_shared<Fd>(::open("/dev/null", O_WRONLY | O_CLOEXEC)), {});
          server.stop();
        },
        asio::detached);
    fresh.run();
    ASSERT_FALSE(done) << target;
    EXPECT_EQ(done.error().code, Code::kDenied) << target << ": " << done.error().what;
  }
}

TEST_F(RegistrySessionTest, ARedirectToAnotherSchemeOrWithoutTlsIsNotFollowed) {
  parts_["/blobs/sha256:" + sha256_hex(layer_)] =
      HttpServerForTest::response("302 Found", "", "Location: http://example.org/x\r\n");
  EXPECT_EQ(blob(layer()).error().code, Code::kDenied);
}

TEST_F(RegistrySessionTest, ATokenIsFetchedAndUsed) {
  wanted_authorization_ = "Bearer tok";
  challenge_ = "Bearer realm=\"http://" + place() + "/token\",service=\"reg\",scope=\"repository:small:pull\"";
  parts_["/token"] = ok(R"({"token":"tok"})");
  const auto found = manifest("me");
  ASSERT_TRUE(found) << found.error().what;
  const auto asked = std::find_if(server_.requests.begin(), server_.requests.end(),
                                  [](const std::string& request) { return request.starts_with("GET /token"); });
  ASSERT_NE(asked, server_.requests.end());
  EXPECT_NE(asked->find("service=reg&scope=repository%3Asmall%3Apull"), std::string::npos) << *asked;
  EXPECT_NE(asked->find("Authorization: Basic bWU6cGFzcw=="), std::string::npos);
}

TEST_F(RegistrySessionTest, APasswordIsSentOnlyWhenItIsAskedFor) {
  wanted_authorization_ = "Basic bWU6cGFzcw==";
  challenge_ = "Basic realm=\"x\"";
  ASSERT_TRUE(manifest("me"));
  EXPECT_EQ(server_.requests.front().find("Authorization"), std::string::npos);
}

TEST_F(RegistrySessionTest, AWrongLoginIsToldAndNotTriedForEver) {
  wanted_authorization_ = "Basic other";
  challenge_ = "Basic realm=\"x\"";
  EXPECT_EQ(manifest("me").error().code, Code::kDenied);
  EXPECT_LE(server_.requests.size(), 3u);
}

TEST_F(RegistrySessionTest, ATokenServerAtAPrivateAddressIsNotAsked) {
  wanted_authorization_ = "Bearer tok";
  challenge_ = "Bearer realm=\"https://169.254.169.254/token\",service=\"reg\"";
  EXPECT_EQ(manifest("me").error().code, Code::kDenied);
}

TEST(ChallengeTest, WordsWithAndWithoutQuotes) {
  const Challenge one = parse_challenge("Bearer realm=\"https://a/b?c=d,e\", service=x,scope=\"y z\"");
  EXPECT_EQ(one.scheme, "bearer");
  EXPECT_EQ(one.realm, "https://a/b?c=d,e");
  EXPECT_EQ(one.service, "x");
  EXPECT_EQ(one.scope, "y z");
  EXPECT_EQ(parse_challenge("").scheme, "");
  EXPECT_EQ(parse_challenge("Basic realm=\"unclosed").realm, "");
}

}  // namespace
}  // namespace bj
