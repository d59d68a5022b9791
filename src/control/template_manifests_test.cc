#include "control/template_manifests.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <sstream>

#include "control/dockerfile.h"

namespace bj {
namespace {

std::set<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

TEST(TemplateManifestsTest, EveryManifestIsReadAndBeginsWithATemplate) {
  const auto& manifests = template_manifests();
  for (const char* name : {"base", "python", "node", "code-interpreter", "code-server"})
    EXPECT_TRUE(manifests.contains(name)) << name;
  for (const auto& [name, text] : manifests) {
    const auto parsed = parse_dockerfile(text);
    ASSERT_TRUE(parsed) << name << ": " << parsed.error().what;
    EXPECT_EQ(parsed->from, "base") << name;
    for (const BuildStep& step : parsed->steps)
      EXPECT_TRUE(make_step(step_name(step.kind), step.arguments, step.files, false)) << name;
  }
}

// As the documents say. Tables could be neither read from nor written to Parquet in it.
TEST(TemplateManifestsTest, TheCodeInterpreterHasWhatPythonHas) {
  const std::set<std::string> there = words_of(template_manifests().at("code-interpreter"));
  const std::string& python = template_manifests().at("python");
  const size_t begin = python.find("numpy"), end = python.find("&&", begin);
  ASSERT_NE(end, std::string::npos);
  for (const std::string& package : words_of(python.substr(begin, end - begin)))
    EXPECT_TRUE(there.contains(package)) << package;
}

}  // namespace
}  // namespace bj
