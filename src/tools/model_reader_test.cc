#include "tools/model_reader.h"

#include <gtest/gtest.h>

#include "tools/python_loads.h"

namespace bj {
namespace {

namespace json = boost::json;

TEST(ModelReaderTest, CollectsEveryErrorInPydanticsWords) {
  const json::value body = python_loads(R"({"value": 5, "limit": 0, "tags": ["a", null], "odd": {"x": 1}})").value();
  FieldErrors errors;
  ModelReader reader(body, {"body"}, errors);
  reader.string("key");
  reader.optional_string("value");
  reader.integer_or("limit", 50, {1, 100});
  reader.optional_strings("tags");
  reader.finish(UnknownKeys::kForbid);
  EXPECT_EQ(field_errors_repr(errors),
            "[{'type': 'missing', 'loc': ('body', 'key'), 'msg': 'Field required', 'input': {'value': 5, 'limit': 0, "
            "'tags': ['a', None], 'odd': {'x': 1}}}, {'type': 'string_type', 'loc': ('body', 'value'), 'msg': 'Input "
            "should be a valid string', 'input': 5}, {'type': 'greater_than_equal', 'loc': ('body', 'limit'), 'msg': "
            "'Input should be greater than or equal to 1', 'input': 0, 'ctx': {'ge': 1}}, {'type': 'string_type', "
            "'loc': ('body', 'tags', 1), 'msg': 'Input should be a valid string', 'input': None}, {'type': "
            "'extra_forbidden', 'loc': ('body', 'odd'), 'msg': 'Extra inputs are not permitted', 'input': {'x': 1}}]");
}

TEST(ModelReaderTest, DefaultsAndNullsAreTakenAsPydanticTakesThem) {
  const json::value body = python_loads(R"({"a": null, "b": null, "c": "on", "d": "7"})").value();
  FieldErrors errors;
  ModelReader reader(body, {"body"}, errors);
  EXPECT_EQ(reader.optional_string("a"), std::nullopt);
  EXPECT_EQ(reader.boolean_or("c", false), true);
  EXPECT_EQ(reader.integer_or("d", 1), 7);
  EXPECT_EQ(reader.integer_or("absent", 9), 9);
  EXPECT_FALSE(reader.exact());
  EXPECT_EQ(reader.fields_given(), 3u);
  EXPECT_TRUE(errors.empty());
  reader.string_or("b", "x");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].type, "string_type");
}

TEST(ModelReaderTest, WhatIsNoObjectIsOneError) {
  FieldErrors errors;
  const json::value body = 5;
  ModelReader reader(body, {"body"}, errors);
  reader.string("key");
  reader.finish(UnknownKeys::kForbid);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].type, "model_attributes_type");
}

TEST(ModelReaderTest, ABrokenBodyIsOneErrorAtItsPlace) {
  FieldErrors errors;
  EXPECT_FALSE(read_json_body("{\"a\": nope}", errors));
  EXPECT_FALSE(read_json_body("", errors));
  EXPECT_EQ(field_errors_repr(errors),
            "[{'type': 'json_invalid', 'loc': ('body', 6), 'msg': 'JSON decode error', 'input': {}, 'ctx': {'error': "
            "'Expecting value'}}, {'type': 'missing', 'loc': ('body',), 'msg': 'Field required', 'input': None}]");
}

TEST(ModelReaderTest, AByteOrderMarkBeforeABodyIsSkipped) {
  FieldErrors errors;
  EXPECT_EQ(read_json_body("\xef\xbb\xbf{\"a\": 1}", errors), json::value(json::object{{"a", 1}}));
  EXPECT_TRUE(errors.empty());
  EXPECT_FALSE(read_json_body("\xef\xbb\xbf", errors));
}

TEST(ModelReaderTest, NoErrorRepeatsASecret) {
  FieldErrors errors;
  const json::value body =
      python_loads(R"({"value": "s3cret", "env_vars": {"A": "s3cret", "B": 1}, "other": "seen"})").value();
  ModelReader reader(body, {"body"}, errors);
  reader.string("key");
  reader.optional_string_map("env_vars");
  reader.wrong("value", {"value_error", "Value error"}, body.at("value"));
  const std::string text = field_errors_repr(errors);
  EXPECT_EQ(text.find("s3cret"), text.npos) << text;
  EXPECT_NE(text.find("'input': {'value': '********', 'env_vars': {'A': '********', 'B': 1}, 'other': 'seen'}"),
            text.npos);
  EXPECT_NE(text.find("'loc': ('body', 'env_vars', 'B'), 'msg': 'Input should be a valid string', 'input': 1"),
            text.npos);
}

TEST(LaxValuesTest, IntegersAreReadAsPydanticReadsThem) {
  const auto integer = [](json::value value) {
    auto number = lax_integer(value);
    return number ? std::to_string(number->value) : std::string(number.error().type);
  };
  for (const char* text : {"60", "60.0", " 60 ", "+60", "6_0", "60.00", "00060",
                           "\xc2\xa0"
                           "60"}) {
    EXPECT_EQ(integer(text), "60") << text;
  }
  for (const char* text :
       {"60.", "6__0", "_60", "60_", "60.5", "1e3", "0x1f", "", "+ 6", "--6", ".0", "+-5", "60.0_0"}) {
    EXPECT_EQ(integer(text), "int_parsing") << text;
  }
  EXPECT_EQ(integer(60.0), "60");
  EXPECT_EQ(integer(60.5), "int_from_float");
  EXPECT_EQ(integer(true), "1");
  EXPECT_EQ(integer(nullptr), "int_type");
  EXPECT_EQ(integer(1e20), "int_parsing_size");
}

TEST(LaxValuesTest, BooleansAndNumbersAreReadAsPydanticReadsThem) {
  const auto boolean = [](json::value value) {
    auto truth = lax_boolean(value);
    return truth ? (truth->value ? "True" : "False") : std::string(truth.error().type);
  };
  EXPECT_EQ(boolean("oN"), "True");
  EXPECT_EQ(boolean("F"), "False");
  EXPECT_EQ(boolean(" true"), "bool_parsing");
  EXPECT_EQ(boolean(2), "bool_parsing");
  EXPECT_EQ(boolean(1.0), "True");
  EXPECT_EQ(boolean(1.5), "bool_type");
  EXPECT_EQ(boolean(9.2e18), "bool_parsing");
  EXPECT_EQ(boolean(9.3e18), "bool_type");  // no integer of 64 bits
  EXPECT_EQ(boolean(uint64_t{1} << 63), "bool_type");
  EXPECT_EQ(lax_number("1_000")->value, 1000);
  EXPECT_EQ(lax_number(" .5 ")->value, 0.5);
  EXPECT_FALSE(lax_number("0x5"));
  EXPECT_FALSE(lax_number("1e"));
  EXPECT_FALSE(lax_number(""));
}

// A request of 8 MB held up the server for seconds, and took a gigabyte: of millions of errors fifty are told.
TEST(ModelReaderTest, ErrorsThatAreNotToldAreNotCollected) {
  json::array numbers;
  json::object unknown;
  for (int i = 0; i < 1000; ++i) {
    numbers.emplace_back(i);
    unknown["key" + std::to_string(i)] = i;
  }
  FieldErrors errors;
  const json::value list = json::object{{"tags", numbers}};
  ModelReader tags(list, {"body"}, errors);
  (void)tags.optional_strings("tags");
  EXPECT_EQ(errors.size(), 50u);
  errors.clear();
  const json::value keys = unknown;
  ModelReader(keys, {"body"}, errors).finish(UnknownKeys::kForbid);
  EXPECT_EQ(errors.size(), 50u);
}

TEST(ModelReaderTest, AnInputOfManyPartsIsCutLikeALongOne) {
  const json::value input = json::array(5000, json::array());
  const std::string text = field_errors_repr({{"string_type", {"body", "x"}, "no", input, ""}});
  EXPECT_TRUE(text.ends_with("...}]")) << text.substr(text.size() - 40);
  EXPECT_GT(text.size(), 2000u);
  EXPECT_LT(text.size(), 2100u);
}

}  // namespace
}  // namespace bj
