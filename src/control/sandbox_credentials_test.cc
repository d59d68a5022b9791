#include "control/sandbox_credentials.h"

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <set>

namespace bj {
namespace {

// Gives what is named if all of it is there, as the service does; "{}" is a row without rules of its own.
ReadCredentials having(std::set<std::string> there) {
  return [there = std::move(there)](const SandboxRow& row) -> Result<SandboxCredentials> {
    SandboxCredentials credentials;
    const auto add = [&](const std::string& name) {
      GateCredential one;
      one.name = name;
      credentials.gate.push_back(std::move(one));
    };
    const boost::json::value names = boost::json::parse(row.credentials);
    for (const boost::json::value& item : names.as_array()) {
      const std::string name(item.as_string());
      if (!there.contains(name)) return fail(Code::kNotFound, "there is no credential \"" + name + "\"");
      add(name);
      credentials.placeholders[name] = "placeholder of " + name;
    }
    if (row.details != "{}") add("rules");
    return credentials;
  };
}

std::vector<std::string> given(const std::set<std::string>& there, const SandboxRow& row) {
  std::vector<std::string> names;
  for (const GateCredential& one : credentials_there(having(there), row).gate) names.push_back(one.name);
  return names;
}

SandboxRow row_with(const std::string& credentials) {
  SandboxRow row;
  row.credentials = credentials;
  row.details = R"({"network": {}})";
  return row;
}

TEST(SandboxCredentialsTest, ARemovedOneTakesNoneOfTheOthersWithIt) {
  const SandboxRow row = row_with(R"(["one", "two", "three"])");
  EXPECT_EQ(given({"one", "two", "three"}, row), (std::vector<std::string>{"one", "two", "three", "rules"}));
  EXPECT_EQ(given({"one", "three"}, row), (std::vector<std::string>{"one", "three", "rules"}));
  EXPECT_EQ(credentials_there(having({"three"}), row).placeholders,
            (SandboxEnvironment{{"three", "placeholder of three"}}));
}

TEST(SandboxCredentialsTest, WithoutAnyLeftThereAreStillItsRules) {
  EXPECT_EQ(given({}, row_with(R"(["one"])")), std::vector<std::string>{"rules"});
}

TEST(SandboxCredentialsTest, WhereNothingCanBeReadNothingIsGiven) {
  const ReadCredentials broken = [](const SandboxRow&) -> Result<SandboxCredentials> {
    return fail(Code::kUnavailable, "the database is gone");
  };
  EXPECT_TRUE(credentials_there(broken, row_with(R"(["one"])")).gate.empty());
}

}  // namespace
}  // namespace bj
