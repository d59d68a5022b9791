#include "server/router.h"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace bj {
namespace {

Task<HttpResponse> nothing(HttpRequest&) { co_return empty_response(); }

std::string pattern_of(const Router& router, Method method, std::string_view path) {
  const Result<RouteMatch> match = router.match(method, path);
  return match && match->route ? match->route->pattern : "";
}

class RouterTest : public testing::Test {
 protected:
  RouterTest() {
    for (const char* pattern : {"/", "/v1/tools", "/v1/tools/{tool_id}", "/v1/tools/count", "/v1/{kind}/count/all",
                                "/v1/tools/{id}/files/{name}"})
      router.add(Method::kGet, pattern, nothing);
    router.add(Method::kPost, "/v1/tools/run", nothing);
    router.add(Method::kDelete, "/v1/tools/{tool_id}", nothing);
  }
  Router router;
};

TEST_F(RouterTest, LiteralsBeatParameters) {
  EXPECT_EQ(pattern_of(router, Method::kGet, "/v1/tools/count"), "/v1/tools/count");
  EXPECT_EQ(pattern_of(router, Method::kGet, "/v1/tools/counts"), "/v1/tools/{tool_id}");
  EXPECT_EQ(pattern_of(router, Method::kGet, "/v1/tools/count/all"), "/v1/{kind}/count/all");
  EXPECT_EQ(pattern_of(router, Method::kGet, "/"), "/");
}

TEST_F(RouterTest, AParameterServesTheMethodThatTheLiteralLacks) {
  EXPECT_EQ(pattern_of(router, Method::kGet, "/v1/tools/run"), "/v1/tools/{tool_id}");
  EXPECT_EQ(pattern_of(router, Method::kPost, "/v1/tools/run"), "/v1/tools/run");
}

TEST_F(RouterTest, ParametersAreDecodedAndNamed) {
  const auto match = router.match(Method::kGet, "/v1/tools/a%20b/files/x%2Fy%C3%A9");
  ASSERT_TRUE(match && match->route);
  EXPECT_EQ(*match->parameters.find("id"), "a b");
  EXPECT_EQ(*match->parameters.find("name"), "x/y\u00e9");
}

TEST_F(RouterTest, AnEncodedSlashSeparatesNothing) {
  EXPECT_EQ(pattern_of(router, Method::kGet, "/v1%2Ftools"), "");
  EXPECT_EQ(pattern_of(router, Method::kGet, "/v1/tools%2Fcount"), "");
}

TEST_F(RouterTest, OneSlashAtTheEndChangesNothing) {
  EXPECT_EQ(pattern_of(router, Method::kGet, "/v1/tools/"), "/v1/tools");
  EXPECT_EQ(pattern_of(router, Method::kGet, "/v1/tools//"), "");
}

TEST_F(RouterTest, EmptyAndDotSegmentsAreNoParameters) {
  for (const char* path : {"//", "/v1//tools", "/v1/tools/..", "/v1/tools/.", "/v1/tools/%2e%2e", "/v1/tools/%2E",
                           "/v1/x/../tools", "/v1/tools/../tools/count/all"})
    EXPECT_EQ(pattern_of(router, Method::kGet, path), "") << path;
}

TEST_F(RouterTest, BadEscapesAndControlCharactersAreRefused) {
  for (const char* path : {"/v1/tools/%", "/v1/tools/%4", "/v1/tools/%zz", "/v1/tools/%00", "/v1/tools/%0a",
                           "/v1/tools/%7f", "/v1/tools/%ff", "/v1/tools/%c0%af", "/v1/tools/%ed%a0%80", "x", ""})
    EXPECT_FALSE(router.match(Method::kGet, path)) << path;
}

TEST_F(RouterTest, AnotherMethodIsToldWhichThereAre) {
  const auto match = router.match(Method::kPut, "/v1/tools/x");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->route, nullptr);
  EXPECT_EQ(match->allowed, (std::vector<Method>{Method::kGet, Method::kHead, Method::kDelete, Method::kOptions}));
  EXPECT_TRUE(router.match(Method::kPut, "/v2")->allowed.empty());
}

TEST_F(RouterTest, HeadIsServedByGet) { EXPECT_EQ(pattern_of(router, Method::kHead, "/v1/tools"), "/v1/tools"); }

TEST_F(RouterTest, MalformedAndDoublePatternsThrow) {
  for (const char* pattern : {"x", "/a//b", "/{}", "/{a", "/{a}/{a}", "/a{b}", "/v1/tools", "/v1/tools/{other}"})
    EXPECT_THROW(router.add(Method::kGet, pattern, nothing), std::logic_error) << pattern;
}

TEST_F(RouterTest, AVeryLongPathIsSimplyNotThere) {
  std::string path;
  for (int i = 0; i < 5000; ++i) path += "/v1";
  EXPECT_EQ(pattern_of(router, Method::kGet, path), "");
}

TEST(OpenApiTest, RoutesBecomeOperations) {
  Router router;
  RouteOptions options;
  options.doc.summary = "Change a tool";
  options.doc.tag = "tools";
  options.doc.request_schema = {{"$ref", "#/components/schemas/ToolUpdate"}};
  options.doc.response_schema = {{"type", "object"}};
  ParameterDoc dry;
  dry.name = "dry";
  dry.schema = {{"type", "boolean"}};
  options.doc.parameters = {dry};
  router.add(Method::kPatch, "/v1/tools/{tool_id}", nothing, options);
  router.add_schema("ToolUpdate", {{"type", "object"}});
  const boost::json::value document = openapi(router, "1.2");
  EXPECT_EQ(document.at("openapi").as_string(), "3.1.0");
  const auto& operation = document.at("paths").at("/v1/tools/{tool_id}").at("patch");
  EXPECT_EQ(operation.at("operationId").as_string(), "patch_v1_tools_tool_id");
  EXPECT_EQ(boost::json::serialize(operation.at("parameters")),
            R"([{"name":"tool_id","in":"path","required":true,"schema":{"type":"string"}},)"
            R"({"name":"dry","in":"query","required":false,"schema":{"type":"boolean"}}])");
  EXPECT_EQ(operation.at("requestBody").at("content").at("application/json").at("schema").at("$ref").as_string(),
            "#/components/schemas/ToolUpdate");
  EXPECT_TRUE(document.at("components").at("schemas").as_object().contains("ToolUpdate"));
  EXPECT_FALSE(operation.as_object().contains("security"));
}

}  // namespace
}  // namespace bj
