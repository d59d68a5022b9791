#include "tools/argument_check.h"

#include <gtest/gtest.h>

#include "tools/python_loads.h"

namespace bj {
namespace {

namespace json = boost::json;

ArgumentVerdict check(std::string_view schema, std::string_view arguments, ArgumentMode mode = ArgumentMode::kExact) {
  return check_arguments(python_loads(schema).value().as_object(), python_loads(arguments).value().as_object(), mode);
}

constexpr char kWeather[] = R"({"type": "object", "required": ["city"], "additionalProperties": false, "properties": {
  "city": {"type": "string", "minLength": 2}, "days": {"type": "integer", "minimum": 1, "maximum": 14},
  "unit": {"enum": ["c", "f"]}, "raw": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "string"}},
  "place": {"$ref": "#/$defs/Place"}, "when": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
  "$defs": {"Place": {"type": "object", "required": ["lat"], "properties": {"lat": {"type": "number"}}}}})";

TEST(ArgumentCheckTest, ProblemsAreToldInPlainWords) {
  const auto text = [](std::string_view arguments) { return check(kWeather, arguments).text(); };
  EXPECT_EQ(text(R"({"city": "Ulm", "days": 3, "place": {"lat": 1}, "when": null})"), "");
  EXPECT_EQ(text(R"({"city": 5})"), "argument \"city\" must be a string, not a number");
  EXPECT_EQ(text("{}"), "missing argument \"city\"");
  EXPECT_EQ(text(R"({"city": "Ulm", "days": 0})"), "argument \"days\" must be at least 1");
  EXPECT_EQ(text(R"({"city": "Ulm", "days": 1.5})"), "argument \"days\" must be an integer, not a number");
  EXPECT_EQ(text(R"({"city": "U"})"), "argument \"city\" must have at least 2 characters");
  EXPECT_EQ(text(R"({"city": "Ulm", "unit": "k"})"), "argument \"unit\" must be one of [\"c\", \"f\"], not \"k\"");
  EXPECT_EQ(text(R"({"city": "Ulm", "tags": ["a", 5]})"), "argument \"tags[1]\" must be a string, not a number");
  EXPECT_EQ(text(R"({"city": "Ulm", "place": {}})"), "argument \"place\" has no \"lat\"");
  EXPECT_EQ(text(R"({"city": "Ulm", "place": {"lat": "x"}})"), "argument \"place.lat\" must be a number, not a string");
  EXPECT_EQ(text(R"({"city": "Ulm", "odd": 1})"), "unknown argument \"odd\"");
  EXPECT_EQ(text(R"({"city": "Ulm", "when": 5})"),
            "argument \"when\" must be a string or null as the schema describes, not 5");
}

TEST(ArgumentCheckTest, WhatCoercionAcceptsPasses) {
  const auto text = [](std::string_view arguments) {
    return check(kWeather, arguments, ArgumentMode::kCoercing).text();
  };
  EXPECT_EQ(text(R"({"city": 12345, "days": "7", "raw": " TRUE ", "tags": "[\"a\"]"})"), "");
  EXPECT_EQ(text(R"({"city": "Ulm", "days": null, "raw": null, "tags": null, "place": "{'lat': 1}"})"), "");
  EXPECT_EQ(text(R"({"city": null, "raw": 1, "place": "{\"lat\": \"1.5\"}"})"), "");
  EXPECT_EQ(text(R"({"city": "Ulm", "days": "soon"})"), "argument \"days\" must be an integer, not a string");
  EXPECT_EQ(text(R"({"city": "Ulm", "days": "70"})"), "argument \"days\" must be at most 14");
  EXPECT_EQ(text(R"({"city": "Ulm", "raw": "yes"})"), "argument \"raw\" must be a boolean, not a string");
  EXPECT_EQ(text(R"({"city": "Ulm", "tags": {"a": 1}})"), "argument \"tags\" must be an array, not an object");
}

TEST(ArgumentCheckTest, HostileSchemasAreNotUsed) {
  const auto unused = [](std::string_view schema, std::string_view arguments = R"({"x": {"x": {"x": {}}}})") {
    const ArgumentVerdict verdict = check(schema, arguments);
    EXPECT_TRUE(verdict.ok()) << schema.substr(0, 80) << verdict.text();
    return !verdict.unchecked.empty();
  };
  EXPECT_TRUE(unused(R"({"$ref": "#"})"));
  EXPECT_TRUE(unused(R"({"allOf": [{"$ref": "#"}]})"));
  EXPECT_TRUE(unused(R"({"$ref": "#/a", "a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}})"));
  EXPECT_TRUE(unused(R"({"properties": {"x": {"properties": {"y": {"$ref": "#/a"}}}}, "a": {"$ref": "#/a"}})", "{}"));
  EXPECT_TRUE(unused(R"({"$ref": "http://127.0.0.1:1/schema"})"));
  EXPECT_TRUE(unused(R"({"properties": {"x": {"$ref": "file:///etc/passwd"}}})"));
  EXPECT_TRUE(unused(R"({"properties": {"x": {"$ref": "#/nowhere"}}})"));
  EXPECT_TRUE(unused(R"({"required": "x"})"));
  EXPECT_TRUE(unused(R"({"type": "strange"})"));
  EXPECT_TRUE(unused(R"({"properties": 5})"));
  std::string deep = "{}";
  for (int i = 0; i < 60; ++i) deep = R"({"not":)" + deep + "}";
  EXPECT_TRUE(unused(deep));
  std::string many = R"({"anyOf": [)";
  for (int i = 0; i < 6000; ++i) many += "{},";
  EXPECT_TRUE(unused(many + "{}]}"));
}

TEST(ArgumentCheckTest, WorkThatDoublesWithEachStepIsRefused) {
  std::string schema = R"({"$ref": "#/d0")";
  for (int i = 0; i < 40; ++i) {
    const std::string next = R"({"$ref": "#/d)" + std::to_string(i + 1) + "\"}";
    schema += ", \"d" + std::to_string(i) + R"(": {"anyOf": [)" + next + ", " + next + "]}";
  }
  schema += R"(, "d40": {"type": "string"}})";
  EXPECT_FALSE(check(schema, "{}").unchecked.empty());
  std::string value = "1";
  for (int i = 0; i < 40; ++i) value = R"({"x": )" + value + "}";
  EXPECT_FALSE(
      check(R"({"anyOf": [{"properties": {"x": {"$ref": "#"}}}, {"properties": {"x": {"$ref": "#"}}}]})", value)
          .unchecked.empty());
}

TEST(ArgumentCheckTest, SchemasThatDoubleFurtherInAreReadOnce) {
  std::string schema = R"({"$ref": "#/d0")";
  for (int i = 0; i < 30; ++i) {
    const std::string next = R"({"$ref": "#/d)" + std::to_string(i + 1) + "\"}";
    schema += ", \"d" + std::to_string(i) + R"(": {"properties": {"a": )" + next + ", \"b\": " + next + "}}";
  }
  schema += R"(, "d30": {"type": "string"}})";
  EXPECT_EQ(check(schema, "{}").text(), "");
}

TEST(ArgumentCheckTest, RecursiveSchemasWork) {
  constexpr char kTree[] = R"({"properties": {"tree": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": {"type": "object",
    "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}}})";
  const ArgumentVerdict good = check(kTree, R"({"tree": {"children": [{"children": [{"name": "x"}]}]}})");
  EXPECT_TRUE(good.ok() && good.unchecked.empty()) << good.text() << good.unchecked;
  EXPECT_EQ(check(kTree, R"({"tree": {"children": [{"children": [{"name": 5}]}]}})").text(),
            "argument \"tree.children[0].children[0].name\" must be a string, not a number");
}

TEST(ArgumentCheckTest, PatternsAndFormatsNeverRun) {
  const std::string long_text(100000, 'a');
  const ArgumentVerdict verdict = check_arguments(
      python_loads(
          R"({"properties": {"x": {"pattern": "(a+)+$", "format": "date-time"}}, "patternProperties": {"(": {}}})")
          .value()
          .as_object(),
      {{"x", long_text + "!"}}, ArgumentMode::kExact);
  EXPECT_TRUE(verdict.ok());
  EXPECT_EQ(verdict.unchecked, "");
}

}  // namespace
}  // namespace bj
