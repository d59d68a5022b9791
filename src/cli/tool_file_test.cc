#include "cli/tool_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

class ToolFileTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }

  ScratchDirectory own_directory_;
  const std::string& directory_ = own_directory_.path();
};

TEST_F(ToolFileTest, TheEndingTellsTheLanguage) {
  EXPECT_EQ(language_of("a/b.py").value(), Language::kPython);
  for (const char* name : {"a.ts", "a.mts", "a.cts", "a.js", "a.mjs", "a.cjs"})
    EXPECT_EQ(language_of(name).value(), Language::kTypeScript);
  for (const char* name : {"a.rb", "a", ".py", "py", "a.PY"}) EXPECT_FALSE(language_of(name)) << name;
}

TEST_F(ToolFileTest, SourceIsTextOfBoundedSize) {
  EXPECT_EQ(read_tool(write("a.py", "\xef\xbb\xbfx = 1\n"), 100).value(), "x = 1\n");
  EXPECT_NE(read_tool(write("b.py", std::string("a\0b", 3)), 100).error().what.find("binary"), std::string::npos);
  EXPECT_NE(read_tool(write("c.py", "\xff"), 100).error().what.find("UTF-8"), std::string::npos);
  EXPECT_NE(read_tool(write("d.py", std::string(200, 'x')), 100).error().what.find("limit"), std::string::npos);
}

TEST_F(ToolFileTest, WhatIsNoFileIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo((directory_ + "/fifo.py").c_str(), 0600), 0);
  EXPECT_NE(read_tool(directory_ + "/fifo.py", 100).error().what.find("regular"), std::string::npos);
  EXPECT_NE(read_tool(directory_, 100).error().what.find("directory"), std::string::npos);
  EXPECT_EQ(read_tool(directory_ + "/none.py", 100).error().code, Code::kNotFound);
}

TEST_F(ToolFileTest, ArgumentsAreAnObject) {
  EXPECT_EQ(read_arguments(R"({"a": 1})", 100)->at("a"), 1);
  EXPECT_TRUE(read_arguments("", 100)->empty());
  EXPECT_EQ(read_arguments("@" + write("args.json", R"({"b": 2})"), 100)->at("b"), 2);
  for (const char* text : {"[1]", "3", "{", "{\"a\": NaN}", "{\"a\": 1} x", "\"x\""})
    EXPECT_FALSE(read_arguments(text, 100)) << text;
  EXPECT_FALSE(read_arguments(std::string(1000, '[') + std::string(1000, ']'), 10'000));
}

TEST_F(ToolFileTest, PackagesAreFoundInAVirtualEnvironmentOrADirectory) {
  write("venv/lib/python3.11/site-packages/x.py", "");
  EXPECT_EQ(packages_directory(directory_ + "/venv").value(),
            std::filesystem::canonical(directory_) / "venv/lib/python3.11/site-packages");
  write("plain/pkg/__init__.py", "");
  EXPECT_EQ(packages_directory(directory_ + "/plain").value(), std::filesystem::canonical(directory_) / "plain");
  write("other/readme.txt", "");
  EXPECT_FALSE(packages_directory(directory_ + "/other"));
  EXPECT_FALSE(packages_directory(directory_ + "/none"));
}

}  // namespace
}  // namespace bj
