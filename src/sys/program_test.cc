#include "sys/program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/pipe.h"

namespace bj {
namespace {

TEST(ProgramTest, ItGetsItsWordsItsVariablesAndNothingElse) {
  Result<Pipe> pipe = make_pipe();
  ASSERT_TRUE(pipe);
  ProgramSpec spec;
  spec.path = "/bin/sh";
  spec.arguments = {"sh", "-c", "echo $0 $1 $MINE ${HOME-unset}; cat; exit 3", "zero", "one"};
  spec.environment = {{"MINE=yes"}};
  spec.output = pipe->write.get();
  Result<Program> program = Program::start(spec);
  ASSERT_TRUE(program) << program.error().what;
  pipe->write.reset();
  EXPECT_EQ(*read_all(pipe->read.get(), 1000, "output"), "zero one yes unset\n");
  const Result<int> status = program->wait();
  ASSERT_TRUE(status);
  EXPECT_EQ(WEXITSTATUS(*status), 3);
}

TEST(ProgramTest, ItStartsInItsDirectoryAndEndsWhenItIsAskedTo) {
  Result<Pipe> pipe = make_pipe();
  ASSERT_TRUE(pipe);
  ProgramSpec spec;
  spec.path = "sh";
  spec.arguments = {"sh", "-c", "trap 'exit 5' TERM; pwd; while :; do sleep 0.01; done"};
  spec.output = pipe->write.get();
  spec.directory = "/usr";
  Result<Program> program = Program::start(spec);
  ASSERT_TRUE(program) << program.error().what;
  pipe->write.reset();
  char said[6] = {};
  ASSERT_EQ(::read(pipe->read.get(), said, sizeof said - 1), 5);
  EXPECT_STREQ(said, "/usr\n");
  const Result<int> status = program->end();
  ASSERT_TRUE(status);
  EXPECT_EQ(WEXITSTATUS(*status), 5);
}

TEST(ProgramTest, OneThatIsMissingIsAnErrorThatNamesIt) {
  ProgramSpec spec;
  spec.path = "/no/such/program";
  spec.arguments = {"program"};
  const Result<Program> program = Program::start(spec);
  ASSERT_FALSE(program);
  EXPECT_NE(program.error().what.find("/no/such/program"), std::string::npos);
}

TEST(ProgramTest, OneThatIsNotWaitedForIsKilled) {
  ProgramSpec spec;
  spec.path = "sleep";
  spec.arguments = {"sleep", "1000"};
  const Result<Program> program = Program::start(spec);
  ASSERT_TRUE(program) << program.error().what;
}  // would last a quarter of an hour

}  // namespace
}  // namespace bj
