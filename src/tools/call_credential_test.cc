#include "tools/call_credential.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace bj {
namespace {

namespace json = boost::json;

json::object object_of(const char* text) { return json::parse(text).as_object(); }

TEST(CallCredentialTest, AVariableWithoutAPlaceholderGetsARandomOneThatStays) {
  const auto first = read_binding(object_of(R"({"hosts": ["h.example"], "header": "A", "variable": "TOKEN"})"));
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_EQ(first->variable, "TOKEN");
  EXPECT_GE(first->gate.placeholder.size(), 20u);
  const auto again = read_binding(binding_json(*first));
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->gate.placeholder, first->gate.placeholder);
  const auto other = read_binding(object_of(R"({"hosts": ["h.example"], "header": "A", "variable": "TOKEN"})"));
  EXPECT_NE(other->gate.placeholder, first->gate.placeholder);
}

TEST(CallCredentialTest, WithoutAVariableNothingIsAdded) {
  const auto plain = read_binding(object_of(R"({"hosts": ["h.example"], "header": "A"})"));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->gate.placeholder, "");
  EXPECT_FALSE(binding_json(*plain).contains("variable"));
}

TEST(CallCredentialTest, OddVariablesAreRefused) {
  for (const char* const odd : {R"("")", R"("A=B")", R"("1A")", R"("A B")", "5", "null", R"(["A"])"}) {
    json::object binding = object_of(R"({"hosts": ["h.example"], "header": "A"})");
    binding["variable"] = json::parse(odd);
    EXPECT_FALSE(read_binding(binding)) << odd;
  }
}

TEST(CallCredentialTest, TheValueIsTakenAndNeverShown) {
  const auto made =
      read_credential("github", object_of(R"({"value": "v-secret-v", "hosts": ["h.example"], "header": "A"})"));
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(made->gate.name, "github");
  EXPECT_EQ(made->gate.value->reveal(), "v-secret-v");
  EXPECT_EQ(json::serialize(binding_json(*made)).find("v-secret-v"), std::string::npos);
}

TEST(CallCredentialTest, AFailureDoesNotRepeatTheValue) {
  for (const char* const odd :
       {R"({"value": "v-secret-v\n", "hosts": ["h.example"], "header": "A"})", R"({"value": "v-secret-v"})",
        R"({"value": "v-secret-v", "hosts": ["h.example"], "header": "A", "odd": 1})"}) {
    const auto failed = read_credential("github", object_of(odd));
    ASSERT_FALSE(failed) << odd;
    EXPECT_EQ(failed.error().what.find("v-secret-v"), std::string::npos);
  }
  EXPECT_FALSE(read_credential("github", object_of(R"({"hosts": ["h.example"], "header": "A"})")));
  EXPECT_FALSE(read_credential("a/b", object_of(R"({"value": "v-secret-v", "hosts": ["h.example"], "header": "A"})")));
}

}  // namespace
}  // namespace bj
