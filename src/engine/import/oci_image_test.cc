#include "engine/import/oci_image.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "engine/import/import_digest.h"
#include "engine/import/import_test_support.h"

namespace bj {
namespace {

namespace json = boost::json;

class FakeBlobs : public BlobSource {
 public:
  Result<Fd> open(const std::string& name) const override {
    const auto found = files.find(name);
    if (found == files.end()) return fail(Code::kInvalid, name + " is not there");
    return anonymous_file("blob", found->second);
  }
  std::map<std::string, std::string> files;
};

// An OCI layout in memory, one layer "layer" with diff_id of the same text.
class OciImageTest : public ::testing::Test {
 protected:
  json::object add(const std::string& data, const std::string& type) {
    blobs_.files["blobs/sha256/" + sha256_hex(data)] = data;
    return {{"mediaType", "application/vnd.oci.image." + type},
            {"digest", "sha256:" + sha256_hex(data)},
            {"size", data.size()}};
  }
  json::object config(const std::string& architecture = "amd64", json::object settings = {}) {
    const json::object rootfs{{"type", "layers"}, {"diff_ids", json::array{"sha256:" + sha256_hex("layer")}}};
    return add(json::serialize(json::object{
                   {"os", "linux"}, {"architecture", architecture}, {"config", settings}, {"rootfs", rootfs}}),
               "config.v1+json");
  }
  json::object manifest(const json::object& config_blob, const std::string& layer_type = "layer.v1.tar") {
    return add(json::serialize(json::object{
                   {"schemaVersion", 2}, {"config", config_blob}, {"layers", json::array{add("layer", layer_type)}}}),
               "manifest.v1+json");
  }
  Result<Image> read(const json::array& manifests) {
    blobs_.files["oci-layout"] = R"({"imageLayoutVersion":"1.0.0"})";
    blobs_.files["index.json"] = json::serialize(json::object{{"schemaVersion", 2}, {"manifests", manifests}});
    return read_oci_image(blobs_, ImportLimits{});
  }
  static json::object for_platform(json::object descriptor, const char* os, const char* architecture) {
    descriptor["platform"] = {{"os", os}, {"architecture", architecture}};
    return descriptor;
  }

  FakeBlobs blobs_;
};

TEST_F(OciImageTest, OneManifestGivesItsLayerAndSettings) {
  const auto image =
      read({manifest(config("amd64", {{"Env", {"PATH=/bin", "A=b=c"}}, {"User", "app:app"}, {"WorkingDir", "/srv"}}))});
  ASSERT_TRUE(image) << image.error().what;
  ASSERT_EQ(image->layers.size(), 1u);
  EXPECT_EQ(image->layers[0].digest, sha256_hex("layer"));
  EXPECT_EQ(image->settings.environment.at("A"), "b=c");
  EXPECT_EQ(image->settings.user, "app:app");
  EXPECT_EQ(image->settings.workdir, "/srv");
}

TEST_F(OciImageTest, OfSeveralPlatformsTheOneForThisMachineIsChosen) {
  const auto image = read({for_platform(manifest(config("arm64")), "linux", "arm64"),
                           for_platform(manifest(config()), "linux", "amd64"),
                           for_platform(manifest(config("amd64", {{"User", "x"}})), "unknown", "unknown")});
  EXPECT_TRUE(image) << image.error().what;
}

TEST_F(OciImageTest, AnAttestationIsPassedOver) {
  json::object attestation = manifest(config("amd64", {{"User", "x"}}));
  attestation["annotations"] = {{"vnd.docker.reference.type", "attestation-manifest"}};
  EXPECT_TRUE(read({manifest(config()), attestation}));
}

TEST_F(OciImageTest, SeveralImagesAreRefused) {
  const auto image = read({manifest(config()), manifest(config("amd64", {{"User", "x"}}))});
  ASSERT_FALSE(image);
  EXPECT_NE(image.error().what.find("2 images"), std::string::npos);
}

TEST_F(OciImageTest, AnImageForAnotherProcessorIsRefused) {
  EXPECT_FALSE(read({for_platform(manifest(config("arm64")), "linux", "arm64")}));
  EXPECT_FALSE(read({manifest(config("arm64"))}));
}

TEST_F(OciImageTest, ABlobThatDiffersFromItsDigestIsRefused) {
  const json::object blob = manifest(config());
  blobs_.files["blobs/sha256/" + std::string(blob.at("digest").as_string()).substr(7)] += " ";
  EXPECT_FALSE(read({blob}));
}

TEST_F(OciImageTest, UnknownMediaTypesAreRefusedByName) {
  const auto image = read({manifest(config(), "layer.v1.tar+encrypted")});
  ASSERT_FALSE(image);
  EXPECT_NE(image.error().what.find("tar+encrypted"), std::string::npos);
}

TEST_F(OciImageTest, DigestsThatArePathsAreRefused) {
  for (const char* digest :
       {"sha256:../../../etc/passwd", "md5:d41d8cd98f00b204e9800998ecf8427e", "sha256:", "", "sha256:ABCD"}) {
    json::object blob = manifest(config());
    blob["digest"] = digest;
    EXPECT_FALSE(read({blob})) << digest;
  }
}

TEST_F(OciImageTest, WrongTypesAndDepthAreRefused) {
  blobs_.files["oci-layout"] = R"({"imageLayoutVersion":"1.0.0"})";
  for (const std::string& text :
       {std::string("[]"), std::string("{}"), std::string(R"({"manifests":7})"), std::string(R"({"manifests":[7]})"),
        std::string(100000, '['), std::string("\xff\xfe"), std::string()}) {
    blobs_.files["index.json"] = text;
    EXPECT_FALSE(read_oci_image(blobs_, ImportLimits{})) << text.substr(0, 20);
    blobs_.files["manifest.json"] = text;
    EXPECT_FALSE(read_docker_image(blobs_, ImportLimits{})) << text.substr(0, 20);
  }
}

TEST_F(OciImageTest, AManifestOverTheLimitIsRefused) {
  blobs_.files["manifest.json"] = std::string(5u << 20, ' ') + "[]";
  EXPECT_FALSE(read_docker_image(blobs_, ImportLimits{}));
}

TEST_F(OciImageTest, ADockerConfigIsCheckedAgainstTheDigestInItsName) {
  const std::string config =
      json::serialize(json::object{{"os", "linux"},
                                   {"architecture", "amd64"},
                                   {"rootfs", {{"diff_ids", json::array{"sha256:" + sha256_hex("layer")}}}}});
  const auto read_with = [&](const std::string& name) {
    blobs_.files[name] = config;
    blobs_.files["manifest.json"] =
        json::serialize(json::array{json::object{{"Config", name}, {"Layers", {"a/layer.tar"}}}});
    return read_docker_image(blobs_, ImportLimits{});
  };
  EXPECT_TRUE(read_with(sha256_hex(config) + ".json"));
  EXPECT_TRUE(read_with("blobs/sha256/" + sha256_hex(config)));
  EXPECT_FALSE(read_with(std::string(64, '0') + ".json"));
}

TEST(DirectoryBlobsTest, SymlinksAndNamesOutsideAreRefused) {
  const ScratchDirectory temporary;
  ASSERT_EQ(::symlink("/etc/passwd", (temporary.path() + "/link").c_str()), 0);
  ASSERT_EQ(::symlink("/etc", (temporary.path() + "/blobs").c_str()), 0);
  const Fd directory(::open(temporary.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const DirectoryBlobs blobs(directory.get(), ImportLimits{});
  for (const char* name : {"link", "blobs/passwd", "../../etc/passwd", "", "nothing", "/etc/passwd"})
    EXPECT_FALSE(blobs.open(name)) << name;
}

TEST(ImageSettingsTest, WhatSteersOtherProgramsOrIsMalformedIsLeftOut) {
  const ImageSettings settings = checked_settings(
      {"PATH=/bin", "LD_PRELOAD=/evil.so", "PYTHONSTARTUP=/evil.py", "https_proxy=http://evil", "NOEQUALS", "=", "1A=2",
       std::string(100000, 'A') + "=1", "BIG=" + std::string(100000, 'x'), std::string("NUL=a\0b", 7)},
      "0:0; touch /tmp/evil", "/a/../..");
  EXPECT_EQ(settings.environment, (std::map<std::string, std::string>{{"PATH", "/bin"}}));
  EXPECT_EQ(settings.user, "");
  EXPECT_EQ(settings.workdir, "");
  EXPECT_EQ(settings.notes.size(), 11u);
}

TEST(ImportMessageTest, ComesBackAsItWasSent) {
  ImportReport report;
  report.kind = "tar";
  report.entries = 7;
  report.settings.environment = {{"A", "b\n\"c"}};
  report.notes = {"a note"};
  const auto message = decode(encode(report));
  ASSERT_TRUE(message);
  const auto& back = std::get<ImportReport>(*message);
  EXPECT_EQ(back.kind, "tar");
  EXPECT_EQ(back.entries, 7u);
  EXPECT_EQ(back.settings.environment, report.settings.environment);
  EXPECT_EQ(back.notes, report.notes);
}

TEST(ImportMessageTest, HostileLinesAreRefusedOrNeutralised) {
  for (const std::string& line : {std::string(), std::string("{}"), std::string("[]"), std::string(R"({"done":7})"),
                                  std::string(5000, '['), std::string("\x1b[2J")}) {
    EXPECT_FALSE(decode(line)) << line.substr(0, 20);
  }
  const auto error = decode(R"({"error":{"code":99999,"what":"\u001b]0;owned\u0007"}})");
  ASSERT_TRUE(error);
  EXPECT_EQ(std::get<Error>(*error).code, Code::kInternal);
  EXPECT_EQ(std::get<Error>(*error).what, "\\x1b]0;owned\\x07");
  const auto done = decode(
      R"({"done":{"kind":"\u001b","entries":-1,"environment":{"LD_PRELOAD":"x","A":"b","C":7},"user":"a b","workdir":"../x"}})");
  ASSERT_TRUE(done);
  const auto& report = std::get<ImportReport>(*done);
  EXPECT_EQ(report.settings.environment, (std::map<std::string, std::string>{{"A", "b"}}));
  EXPECT_EQ(report.settings.user + report.settings.workdir, "");
  EXPECT_EQ(report.kind, "\\x1b");
}

}  // namespace
}  // namespace bj
