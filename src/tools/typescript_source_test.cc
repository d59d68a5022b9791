#include "tools/typescript_source.h"

#include <boost/json/value_from.hpp>

#include "tools/vectors_for_test.h"

namespace bj {
namespace {

namespace json = boost::json;

TEST(TypescriptSourceTest, PartsAndLinesAreAsObserved) {
  for (const json::value& value : vectors_of("typescript_generation")) {
    const json::object& vector = value.as_object();
    const std::string source = text_at(vector, "source");
    const std::string name = text_at(vector, "tool_name");
    const json::object* schema = vector.at("json_schema").if_object();
    const json::object& arguments = vector.at("args").as_object();
    const TypescriptParts parts = take_apart(source, ExportRemoval::kEverywhere);
    EXPECT_EQ(json::value_from(parts.imports), vector.at("hoisted_imports"));
    EXPECT_EQ(parts.body, text_at(vector, "residual_source"));
    EXPECT_EQ(exported_function(source).value_or(""), text_at(vector, "extracted_name"));
    EXPECT_EQ(is_async_export(source, name), vector.at("is_async").as_bool());
    EXPECT_EQ(json::value_from(argument_lines(arguments, schema).value()), vector.at("arg_lines"));
    EXPECT_EQ(call_line(name, source, call_order(arguments, schema)), text_at(vector, "call_line"));
  }
}

TEST(TypescriptSourceTest, OnlyStatementsLoseTheirExport) {
  const auto body = [](std::string_view source) { return take_apart(source, ExportRemoval::kStatements).body; };
  EXPECT_EQ(body("export function k() { return 'export me'; }"), "function k() { return 'export me'; }");
  EXPECT_EQ(body("export default function n() {}"), "function n() {}");
  EXPECT_EQ(body("  export const a = 1;\nreexport x"), "const a = 1;\nreexport x");
  EXPECT_TRUE(is_async_export("export const f = async (a) => a", "f"));
  EXPECT_FALSE(is_async_export("export const f = (a) => a", "f"));
}

TEST(TypescriptSourceTest, ImportsMayEndInBlanksAndTakeTheBlankLinesBelowWithThem) {
  const auto parts = take_apart("import 'side';\r\nimport { b } from \"b\"  \n\n\nf();\nimport '\nimport x from 'x' ;",
                                ExportRemoval::kEverywhere);
  EXPECT_EQ(parts.imports, (std::vector<std::string>{"import 'side';", "import { b } from \"b\""}));
  EXPECT_EQ(parts.body, "f();\nimport '\nimport x from 'x' ;");
  EXPECT_EQ(take_apart("a();\nimport 'b'\n\n\nc();", ExportRemoval::kEverywhere).body, "a();\n\nc();");
}

TEST(TypescriptSourceTest, ExportsAreLookedForAsLettaDoes) {
  EXPECT_EQ(exported_function("export async function a() {}\nexport function b() {}"), "b");
  EXPECT_EQ(exported_function("export\nfunction\nf$() {}"), "f");
  EXPECT_EQ(exported_function("reexport function f() {}"), "f");
  EXPECT_TRUE(is_async_export("export async function adder() {}", "add"));
  EXPECT_TRUE(is_async_export("export const add\n=async() => 1", "add"));
  EXPECT_FALSE(is_async_export("export const add = asyn", "add"));
}

TEST(TypescriptSourceTest, GapsBeforeAGivenArgumentAreKept) {
  const json::value schema = {
      {"parameters", {{"properties", {{"a", json::object()}, {"b", json::object()}, {"c", json::object()}}}}}};
  EXPECT_EQ(call_order({{"b", 1}}, schema.if_object()), (std::vector<std::string>{"b"}));
  EXPECT_EQ(call_order_with_gaps({{"b", 1}}, schema.if_object()), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(call_order_with_gaps({}, schema.if_object()), std::vector<std::string>());
  EXPECT_EQ(call_order_with_gaps({{"x", 1}}, schema.if_object()), (std::vector<std::string>{"a", "b", "c", "x"}));
}

}  // namespace
}  // namespace bj
