#include "tools/remote_script.h"

#include <cstdio>
#include <filesystem>
#include <memory>

#include "tools/result_frame.h"
#include "tools/vectors_for_test.h"

namespace bj {
namespace {

namespace json = boost::json;

// Runs the script with the machine's Python and reads its frame.
PythonResult<RemoteResult> run(const RemoteCall& call) {
  const auto script = python_script(call, RemoteAnswer::kFrame);
  EXPECT_TRUE(script);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("belljar_remote_script_test_" + std::to_string(::getpid()) + ".py"))
          .string();
  std::ofstream(path) << *script;
  const std::string command = "/usr/bin/python3 -I " + path + " 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string output;
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) output += static_cast<char>(c);
  std::filesystem::remove(path);
  const FoundFrame frame = find_frame_with_nonce(output, call.nonce);
  if (frame.payload.empty()) return tl::unexpected(error_in_stderr(output));
  return read_payload(frame.payload);
}

RemoteCall call_of(std::string source, json::object arguments) {
  RemoteCall call;
  call.name = "f";
  call.source = std::move(source);
  call.arguments = std::move(arguments);
  call.nonce = "n-1";
  return call;
}

TEST(RemoteScriptTest, ArgumentsArriveAsData) {
  const json::object arguments{{"x", "\"\"\" + __import__('os') \\ \n é 😀"}, {"n", 1.5}};
  const auto result = run(call_of("def f(x, n):\n    return [x, n]\n", arguments));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->func_return, (json::value{arguments.at("x"), 1.5}));
}

TEST(RemoteScriptTest, AsyncToolsStateAndIdWork) {
  RemoteCall call = call_of(
      "import asyncio\nasync def f(agent_state, agent_id):\n    await asyncio.sleep(0)\n    agent_state.memory.x = 2\n"
      "    return agent_id\n",
      {});
  call.agent_id = "agent-1";
  call.agent_state = {{"memory", {{"x", 1}}}};
  const auto result = run(call);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->func_return, "agent-1");
  EXPECT_EQ(result->agent_state, (json::value{{"memory", {{"x", 2}}}}));
}

TEST(RemoteScriptTest, AFailureIsReadFromItsTraceback) {
  const auto result = run(call_of("def f():\n    raise ValueError('bad')\n", {}));
  ASSERT_FALSE(result);
  EXPECT_EQ(friendly_error("f", result.error()), "Error executing function f: ValueError: bad");
}

TEST(RemoteScriptTest, ArgumentsOutsideTheSchemaAreLeftOut) {
  RemoteCall call = call_of("def f(x):\n    return x\n", {{"x", 1}, {"extra", 2}});
  call.json_schema = json::object{{"parameters", {{"properties", {{"x", json::object()}}}}}};
  const auto result = run(call);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->func_return, 1);
}

TEST(RemoteScriptTest, ANameCannotBeCode) {
  RemoteCall call = call_of("", {});
  call.name = "f(); import os";
  EXPECT_FALSE(python_script(call, RemoteAnswer::kLastExpression));
  EXPECT_FALSE(typescript_script(call));
}

TEST(RemoteScriptTest, TypescriptCarriesItsArgumentsAsData) {
  RemoteCall call = call_of("import _ from 'lodash';\nexport async function f(x: string) { return x; }",
                            {{"x", "\"; process.exit(1); //"}});
  const auto script = typescript_script(call);
  ASSERT_TRUE(script);
  EXPECT_TRUE(script->starts_with("import _ from 'lodash';\n"));
  EXPECT_EQ(script->find("process.exit"), script->npos);
  EXPECT_NE(script->find("await (f as any)(..."), script->npos);
}

}  // namespace
}  // namespace bj
