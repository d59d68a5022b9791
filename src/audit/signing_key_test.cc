#include "audit/signing_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/json/serialize.hpp>

#include "audit/audit_test_support.h"
#include "audit/ocsf.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

TEST(SigningKeyTest, IsMadeOncePrivateAndSignsWhatItsPublicKeyVerifies) {
  const ScratchDirectory directory;
  const std::string file = directory.path() + "/audit.key";
  const auto key = SigningKey::open(file);
  ASSERT_TRUE(key) << key.error().what;
  struct stat status{};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const auto again = SigningKey::open(file);
  EXPECT_EQ(again->public_key().pem(), key->public_key().pem());
  const std::string signature = *key->sign("text");
  const auto outside = PublicKey::from_pem(key->public_key().pem());
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->id(), key->public_key().id());
  EXPECT_TRUE(outside->verifies("text", signature));
  EXPECT_FALSE(outside->verifies("texT", signature));
  EXPECT_FALSE(outside->verifies("text", signature.substr(1)));
}

TEST(SigningKeyTest, AFileThatOthersMayReadOrThatHoldsNoKeyIsRefused) {
  const ScratchDirectory directory;
  const std::string file = directory.path() + "/audit.key";
  ASSERT_TRUE(SigningKey::open(file));
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  EXPECT_EQ(SigningKey::open(file).error().code, Code::kDenied);
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  ASSERT_EQ(::truncate(file.c_str(), 20), 0);
  EXPECT_EQ(SigningKey::open(file).error().code, Code::kInvalid);
  EXPECT_FALSE(PublicKey::from_pem("garbage"));
}

TEST(SignedHeadTest, SurvivesItsJsonAndNothingElse) {
  const ScratchDirectory directory;
  const auto key = SigningKey::open(directory.path() + "/audit.key");
  const AuditCheckpointRow head = *sign_head(*key, {7, std::string(64, 'a')}, 123);
  const auto read = read_head(boost::json::serialize(head_json(head)));
  ASSERT_TRUE(read);
  EXPECT_TRUE(signature_holds(key->public_key(), *read));
  AuditCheckpointRow other = head;
  other.sequence = 8;
  EXPECT_FALSE(signature_holds(key->public_key(), other));
  EXPECT_FALSE(read_head("{}"));
  EXPECT_FALSE(read_head("not json"));
}

// The encoding is a promise to whoever checks an exported chain: this value was computed from docs/audit.md by hand.
TEST(ChainTest, AnEventHashesToWhatTheSpecificationSays) {
  AuditRow row;
  row.sequence = 1;
  row.id = "event-1";
  row.time = 1'700'000'000'000'000;
  row.organization = "org-1";
  row.kind = "call";
  row.action = "tool.run";
  row.subject = "tool-1";
  row.outcome = "success";
  row.detail = "{}";
  row.previous_hash = kFirstPreviousHash;
  EXPECT_EQ(*event_hash(row), "91d0fea8382deda376d10e3d5cd4aa7ddd18eb1ab82679fda29c94eb09862080");
}

TEST(ChainTest, FieldsCantBeShiftedIntoEachOther) {
  AuditRow one, two;
  one.kind = "ab";
  one.action = "c";
  two.kind = "a";
  two.action = "bc";
  EXPECT_NE(*event_hash(one), *event_hash(two));
  AuditRow none, empty;
  empty.subject = "";
  EXPECT_NE(*event_hash(none), *event_hash(empty));
}

TEST(OcsfTest, ClassesAndActivitiesFit) {
  AuditRow row = some_event(1);
  row.action = "key.create";
  EXPECT_EQ(ocsf_of(row).at("type_uid"), 600301);
  row.action = "key.revoke";
  EXPECT_EQ(ocsf_of(row).at("type_uid"), 600304);
  row.action = "tool.run";
  row.outcome = "timeout";
  EXPECT_EQ(ocsf_of(row).at("type_uid"), 600399);
  EXPECT_EQ(ocsf_of(row).at("status_id"), 2);
  row.kind = "command";
  EXPECT_EQ(ocsf_of(row).at("type_uid"), 100701);
  EXPECT_EQ(ocsf_of(row).at("unmapped").at("detail").at("number"), 1);
  row.kind = "policy_decision";
  row.action = "network.connect";
  row.outcome = "denied";
  row.detail = R"({"host": "evil.example", "port": 443, "decision": {"rule_text": "deny *.example", "reason": "r"}})";
  EXPECT_EQ(ocsf_of(row).at("type_uid"), 400105);
  EXPECT_EQ(ocsf_of(row).at("status_id"), 2);
  EXPECT_EQ(ocsf_of(row).at("dst_endpoint").at("hostname"), "evil.example");
  EXPECT_EQ(ocsf_of(row).at("firewall_rule").at("name"), "deny *.example");
  row.outcome = "allowed";
  EXPECT_EQ(ocsf_of(row).at("type_uid"), 400101);
  EXPECT_EQ(ocsf_of(row).at("status_id"), 1);
  row.kind = "secret_use";
  EXPECT_EQ(ocsf_of(row).at("class_uid"), 4001);
}

}  // namespace
}  // namespace bj
