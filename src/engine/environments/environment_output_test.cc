#include "engine/environments/environment_output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "sys/files.h"

namespace bj {
namespace {

// What a process writes, a piece at a time, and what is told of it.
class Stream {
 public:
  explicit Stream(size_t kept) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    write_ = Fd(ends[1]);
    reader_ = std::make_shared<LineReader>(
        context_.get_executor(), Fd(ends[0]), [this](std::string_view line) { hear(line); }, kept);
    reader_->start();
  }
  void writes(const std::string& piece) {
    ASSERT_TRUE(write_all(write_.get(), piece, "pipe"));
    context_.restart();
    context_.poll();
  }
  std::string finish() { return reader_->finish(); }
  const std::vector<std::string>& lines() const { return lines_; }
  const std::vector<const void*>& places() const { return places_; }

 private:
  void hear(std::string_view line) {
    lines_.emplace_back(line);
    places_.push_back(line.data());
  }

  asio::io_context context_;
  Fd write_;
  std::shared_ptr<LineReader> reader_;
  std::vector<std::string> lines_;
  std::vector<const void*> places_;  // where each lay
};

TEST(LineReaderTest, ALineThatComesInPiecesIsToldWholeEvenIfNothingIsKept) {
  for (const size_t kept : {0u, 2048u}) {
    Stream stream(kept);
    for (const char* piece : {"Downloading ", "half ", "done\nnext", "\n"}) stream.writes(piece);
    EXPECT_EQ(stream.lines(), (std::vector<std::string>{"Downloading half done", "next"})) << kept;
  }
}

TEST(LineReaderTest, TheLastLineNeedsNoEnd) {
  Stream stream(4);
  stream.writes("one\nlastwords");
  EXPECT_EQ(stream.lines(), std::vector<std::string>{"one"});
  EXPECT_EQ(stream.finish(), "ords");
  EXPECT_EQ(stream.lines(), (std::vector<std::string>{"one", "lastwords"}));
}

TEST(LineReaderTest, ALineWithoutEndIsToldInPiecesAndNotHeld) {
  Stream stream(0);
  std::string told;
  for (int i = 0; i < 100; ++i) stream.writes(std::string(10'000, 'x'));
  EXPECT_GE(stream.lines().size(), 10u);
  (void)stream.finish();
  for (const std::string& piece : stream.lines()) told += piece;
  EXPECT_EQ(told, std::string(1'000'000, 'x'));
}

// Once, what was read was moved to the front for each line in it: a package that printed a megabyte of line ends held
// the server's thread for seconds.
TEST(LineReaderTest, LinesThatWereReadTogetherAreToldWhereTheyLie) {
  Stream stream(0);
  stream.writes("one\ntwo\n\nthree\n");
  ASSERT_EQ(stream.lines(), (std::vector<std::string>{"one", "two", "", "three"}));
  const auto* const first = static_cast<const char*>(stream.places().front());
  EXPECT_EQ(stream.places(), (std::vector<const void*>{first, first + 4, first + 8, first + 9}));
}

TEST(EnvironmentOutputTest, OfPipTheLastLinesWithoutWarningsAndNotices) {
  EXPECT_EQ(relevant_lines(Language::kPython,
                           "WARNING: slow\n  ERROR: no version of x\r\n\n[notice] new release\nERROR: none found\n"),
            "  ERROR: no version of x\nERROR: none found");
}

TEST(EnvironmentOutputTest, OfNpmOnlyErrorsWithoutTheirMark) {
  EXPECT_EQ(relevant_lines(Language::kTypeScript,
                           "npm http fetch GET 404\nnpm ERR! code E404\nnpm error 404 Not Found\n"
                           "npm ERR! A complete log of this run can be found in: /home/user/.npm/_logs/x\n"),
            "code E404\n404 Not Found");
}

TEST(EnvironmentOutputTest, WithoutBoundOnItsInputItsLengthIsBounded) {
  std::string errors;
  for (int i = 0; i < 10'000; ++i) errors += std::string(2000, 'x') + "\n";
  EXPECT_LE(relevant_lines(Language::kPython, errors).size(), 5000u);
  errors.clear();
  for (int i = 0; i < 10'000; ++i) errors += "line\n";
  const std::string kept = relevant_lines(Language::kPython, errors);
  EXPECT_LE(std::count(kept.begin(), kept.end(), '\n'), 20);
}

TEST(EnvironmentOutputTest, ControlCharactersAreShownNotSent) {
  EXPECT_EQ(relevant_lines(Language::kPython, "\033]0;evil\007\n"), "\\x1b]0;evil\\x07");
}

}  // namespace
}  // namespace bj
