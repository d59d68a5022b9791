// Letta's calls, output while it is written and the schema tool, each from end to end on this machine's kernel: skipped
// with the reason where sandboxes can't be made.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "engine/embedded.h"
#include "engine/engine.h"
#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

namespace json = boost::json;

class LettaCallTest : public testing::Test {
 protected:
  // The result of one call on an engine of its own; none if this machine has no sandboxes.
  std::optional<CallResult> call(CallSpec spec) {
    asio::io_context context(1);
    EngineOptions options;
    options.data_directory = data_;
    options.python_pool = {.least = 0, .most = 0, .warm = 0};
    Result<std::unique_ptr<Engine>> engine = Engine::create(context, options);
    if (!engine) {
      why_ = engine.error().what;
      return std::nullopt;
    }
    Result<CallResult> result = fail(Code::kInternal, "no call was made");
    asio::co_spawn(context, story(**engine, std::move(spec), &result), asio::detached);
    context.run();
    EXPECT_TRUE(result) << result.error().what;
    return result ? std::optional(std::move(*result)) : std::nullopt;
  }

  static Task<void> story(Engine& engine, CallSpec spec, Result<CallResult>* result) {
    const Result<void> started = co_await engine.start();
    const Result<Template> image = engine.templates().find("base");
    if (started && image) {
      spec.environment.image = *image;
      spec.environment.interpreter = "/usr/bin/python3";
      *result = co_await engine.call(std::move(spec));
    }
    co_await engine.stop();
  }

  ScratchDirectory own_directory_;
  const std::string& data_ = own_directory_.path();
  std::string why_;
};

TEST_F(LettaCallTest, AToolGetsItsAgentAndItsMemoryComesBack) {
  CallSpec spec;
  spec.source =
      "def remember(text: str, count: int, agent_state, agent_id):\n"
      "    agent_state.memory.update_block_value('human', text * count)\n"
      "    return (agent_id, float('nan'))\n";
  spec.name = "remember";
  spec.arguments = {{"text", "ab"}, {"count", "2"}, {"agent_id", "forged"}};
  LettaContext letta;
  letta.properties = json::parse(R"({"text":{"type":"string"},"count":{"type":"integer"}})").as_object();
  letta.agent_state =
      json::parse(R"({"id":"agent-1","memory":{"blocks":[{"id":"block-1","label":"human","value":"","limit":9}]}})");
  spec.letta = letta;
  const std::optional<CallResult> result = call(spec);
  if (!result) GTEST_SKIP() << why_;
  EXPECT_EQ(result->status, CallStatus::kOk) << result->error.message;
  EXPECT_EQ(result->value, json::parse(R"(["agent-1","NaN"])"));
  EXPECT_EQ(result->value_text, "['agent-1', nan]");
  EXPECT_EQ(result->agent_state.at_pointer("/memory/blocks/0/value"), "abab");
}

TEST_F(LettaCallTest, OutputIsToldAsItArrivesAndNoMoreThanTheLimit) {
  CallSpec spec;
  spec.source =
      "import sys\n"
      "def tool():\n"
      "    print('one')\n"
      "    print('bad', file=sys.stderr)\n"
      "    sys.stdout.write('x' * 5000)\n";
  spec.limits.output_bytes = 1000;
  auto told = std::make_shared<std::pair<std::string, std::string>>();
  spec.on_output = [told](bool is_stderr, std::string_view piece) {
    (is_stderr ? told->second : told->first).append(piece);
  };
  const std::optional<CallResult> result = call(spec);
  if (!result) GTEST_SKIP() << why_;
  EXPECT_EQ(told->first, result->output);
  EXPECT_EQ(told->second, "bad\n");
  EXPECT_EQ(result->error_output, "bad\n");
  EXPECT_EQ(result->output.size(), 1000U);
  EXPECT_EQ(result->output.substr(0, 4), "one\n");
}

TEST_F(LettaCallTest, TheSchemaToolRunsAsACall) {
  CallSpec spec;
  spec.source = std::string(embedded_schema_tool());
  spec.filename = "schema_tool.py";
  spec.name = "derive";
  spec.arguments = {
      {"source", "def f(a: int | None = None):\n    '''Does.\n\n    Args:\n        a: First.\n    '''\n"}};
  const std::optional<CallResult> result = call(spec);
  if (!result) GTEST_SKIP() << why_;
  ASSERT_EQ(result->status, CallStatus::kOk) << result->error.traceback;
  EXPECT_EQ(result->value.at("schema"), json::parse(R"({"name":"f","description":"Does.","parameters":{"type":"object",
      "properties":{"a":{"type":"integer","description":"First."}},"required":[]}})"));
}

}  // namespace
}  // namespace bj
