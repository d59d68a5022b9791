#include "tools/fingerprint.h"

#include "tools/vectors_for_test.h"

namespace bj {
namespace {

namespace json = boost::json;

Requirements requirements_at(const json::object& vector, std::string_view key) {
  FieldErrors errors;
  const json::value& list = vector.at(key);
  return list.is_null() ? Requirements() : read_requirements(list, {}, errors);
}

HashedTool hashed_tool(const json::object& vector) {
  HashedTool tool{text_at(vector, "source_code"), std::nullopt, requirements_at(vector, "pip"),
                  requirements_at(vector, "npm")};
  if (vector.contains("source_type") && vector.at("source_type").is_string()) {
    tool.source_type = text_at(vector, "source_type");
  }
  return tool;
}

TEST(FingerprintTest, FingerprintsAreAsObserved) {
  for (const json::value& value : vectors_of("fingerprints")) {
    const json::object& vector = value.as_object();
    const auto type = sandbox_type_named(text_at(vector, "type"));
    ASSERT_TRUE(type);
    std::optional<std::string> organization;
    if (vector.at("organization_id").is_string()) organization = text_at(vector, "organization_id");
    const json::object& config = vector.at("config").as_object();
    EXPECT_EQ(canonical_config(*type, organization, config), text_at(vector, "canonical_json"));
    EXPECT_EQ(sha256_hex(canonical_config(*type, organization, config)), text_at(vector, "sha256_hex"));
    EXPECT_EQ(fingerprint(*type, organization, config), text_at(vector, "fingerprint"));
  }
}

TEST(FingerprintTest, ToolHashesAreAsObserved) {
  for (const json::value& value : vectors_of("tool_hash")) {
    const json::object& vector = value.as_object();
    const HashedTool tool = hashed_tool(vector);
    EXPECT_EQ(tool_hash(tool), text_at(vector, "tool_hash")) << value;
    EXPECT_EQ(tool_hash(tool), sha256_hex(text_at(vector, "hash_input")).substr(0, 12)) << value;
  }
}

TEST(FingerprintTest, BothKindsOfRequirementsAreJoined) {
  const HashedTool tool{"s", "python", {{"a", std::nullopt}}, {{"b", "it's"}}};
  EXPECT_EQ(tool_hash(tool), sha256_hex("s|python|pip:[PipRequirement(name='a', version=None)];npm:[NpmRequirement("
                                        "name='b', version=\"it's\")]")
                                 .substr(0, 12));
}

TEST(FingerprintTest, ModalNamesAreAsObserved) {
  for (const json::value& value : vectors_of("modal_function_name")) {
    const json::object& vector = value.as_object();
    EXPECT_EQ(modal_app_name(text_at(vector, "tool_name"), text_at(vector, "organization_id")),
              text_at(vector, "name"));
  }
  for (const json::value& value : vectors_of("modal_v2")) {
    const json::object& vector = value.as_object();
    const std::string hash = modal_version_hash(hashed_tool(vector), text_at(vector, "fingerprint"));
    EXPECT_EQ(hash, text_at(vector, "version_hash"));
    EXPECT_EQ(modal_version_app_name(text_at(vector, "tool_id"), hash), text_at(vector, "app_name"));
  }
}

}  // namespace
}  // namespace bj
