#include "engine/live_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "sys/files.h"
#include "sys/pipe.h"

namespace bj {
namespace {

// A process that is only its pipes: the test writes what it would write, and says when it ends.
class LiveProcessTest : public testing::Test {
 protected:
  std::shared_ptr<LiveProcess> start(LiveProcessOptions options = {}) {
    Pipe input = *make_pipe(), output = *make_pipe(), error = *make_pipe();
    in_ = std::move(input.read);
    out_ = std::move(output.write);
    err_ = std::move(error.write);
    Process process;
    process.pid = 7;
    process.input = std::move(input.write);
    process.output = std::move(output.read);
    process.error = std::move(error.read);
    process.exit = exit_ = std::make_shared<OneShot<ExitReport>>(io_.get_executor());
    ProcessSpec spec;
    spec.arguments = {"test"};
    record_ = *ProcessRecord::create(nullptr, "", options.kept_bytes, note_of(spec, "a tag", ""));
    record_->facts().input_open = options.input == Input::kOpen ? 1 : 0;
    return LiveProcess::adopt(io_.get_executor(), std::move(process), spec, options, record_);
  }
  void write(const Fd& fd, std::string_view text) { ASSERT_TRUE(write_all(fd.get(), text, "pipe")); }
  void end(int status = 0) {
    out_.reset();
    err_.reset();
    end_before_its_children(status);
  }
  void end_before_its_children(int status = 0) { exit_->set({status, 0, 0, 0}); }
  // Whatever can happen now.
  void settle() {
    io_.restart();
    io_.poll();
  }
  // Reads to the end of the process.
  std::string read_all_of(const std::shared_ptr<LiveProcess>& process, uint64_t from = 0) {
    std::string text;
    bool done = false;
    asio::co_spawn(
        io_,
        [&]() -> Task<void> {
          LiveProcess::Listener listener(process, from);
          while (const auto piece = co_await listener.next()) text += piece->bytes;
          done = true;
        },
        asio::detached);
    io_.restart();
    while (!done && io_.run_one() > 0) {
    }
    return text;
  }

  asio::io_context io_;
  Fd in_, out_, err_;
  std::shared_ptr<ProcessRecord> record_;
  ExitWaiter exit_;
};

TEST_F(LiveProcessTest, WhatItWroteBeforeAnybodyListenedIsThere) {
  const auto process = start();
  write(out_, "early ");
  settle();
  write(err_, "late");
  end(3 << 8);
  EXPECT_EQ(read_all_of(process), "early late");
  EXPECT_TRUE(process->over());
  EXPECT_EQ(process->exit()->status, 3 << 8);
  EXPECT_EQ(read_all_of(process), "early late");  // and again
  EXPECT_EQ(read_all_of(process, 6), "late");
}

TEST_F(LiveProcessTest, AChildThatHoldsThePipesIsNotWaitedFor) {
  const auto process = start();
  write(out_, "text");
  end_before_its_children();
  EXPECT_EQ(read_all_of(process), "text");
}

// As `exec > >(tee log)` does.
TEST_F(LiveProcessTest, WhatAChildWritesAMomentLaterIsItsOutput) {
  const auto process = start();
  err_.reset();
  end_before_its_children();
  settle();
  write(out_, "last words");
  settle();
  EXPECT_FALSE(process->over());
  out_.reset();
  settle();
  EXPECT_TRUE(process->over());
  EXPECT_EQ(read_all_of(process), "last words");
}

TEST_F(LiveProcessTest, OfOneThatWasKilledNoChildIsWaitedFor) {
  const auto process = start();
  end_before_its_children(SIGKILL);
  settle();
  EXPECT_TRUE(process->over());
}

TEST_F(LiveProcessTest, AChildThatStaysCanGoOnWriting) {
  const auto process = start();
  end_before_its_children();
  EXPECT_EQ(read_all_of(process), "");
  const std::string much(60'000, 'x');
  for (int i = 0; i < 5; ++i) {  // more than a pipe holds
    write(out_, much);
    settle();
  }
  EXPECT_EQ(read_all_of(process), "");
}

TEST_F(LiveProcessTest, AChildThatStaysCanGoOnWritingToAnotherServer) {
  const auto process = start();
  KeptThing thing{"", record_->note(), {}};
  thing.descriptors.emplace_back(::fcntl(record_->output().file().get(), F_DUPFD_CLOEXEC, 0));
  end();
  settle();
  Pipe left = *make_pipe();
  Process streams;
  streams.output = std::move(left.read);
  const auto found = *ProcessRecord::open(nullptr, thing);
  const auto again =
      LiveProcess::go_on(io_.get_executor(), std::move(streams), *read_process_note(found->note()), found);
  for (int i = 0; i < 5; ++i) {
    write(left.write, std::string(60'000, 'x'));
    settle();
  }
  EXPECT_TRUE(again->over());
  EXPECT_EQ(read_all_of(again), "");
}

TEST_F(LiveProcessTest, AStreamThatWasClosedIsNotReadAgain) {
  const auto process = start();
  write(out_, "last words");
  settle();
  out_.reset();
  settle();  // would not return if the closed stream were read again and again
  EXPECT_FALSE(process->over());
  write(err_, "!");
  end();
  EXPECT_EQ(read_all_of(process), "last words!");
}

TEST_F(LiveProcessTest, AListenerWhoDoesNotReadHoldsTheProcessUpAndOneWhoLeavesLetsItGo) {
  const auto process = start({64 * 1024, Input::kNone, "", ""});
  ASSERT_EQ(::fcntl(out_.get(), F_SETFL, O_NONBLOCK), 0);
  const auto flood = [&] {
    const std::string piece(16 * 1024, 'x');
    uint64_t taken = 0;
    for (int i = 0; i < 100; ++i) {
      const ssize_t n = ::write(out_.get(), piece.data(), piece.size());
      if (n > 0) taken += static_cast<uint64_t>(n);
      settle();
    }
    return taken;
  };
  {
    const LiveProcess::Listener listener(process, 0);
    EXPECT_LT(flood(), 400u * 1024);
    EXPECT_EQ(process->output().begin(), 0u);
  }
  settle();
  EXPECT_EQ(flood(), 100u * 16 * 1024);
  EXPECT_LE(process->output().end() - process->output().begin(), 128u * 1024);
  end();
  settle();
}

TEST_F(LiveProcessTest, SeveralListenersReadEverythingEach) {
  const auto process = start();
  std::array<std::string, 3> texts;
  int done = 0;
  for (std::string& text : texts) {
    asio::co_spawn(
        io_,
        [&]() -> Task<void> {
          LiveProcess::Listener listener(process, 0);
          while (const auto piece = co_await listener.next()) text += piece->bytes;
          ++done;
        },
        asio::detached);
  }
  settle();
  write(out_, "for all of you");
  settle();
  end();
  io_.restart();
  while (done < 3 && io_.run_one() > 0) {
  }
  for (const std::string& text : texts) EXPECT_EQ(text, "for all of you");
}

TEST_F(LiveProcessTest, AListenerThatIsStoppedGoesOnAtOnce) {
  const auto process = start();
  bool done = false;
  LiveProcess::Listener listener(process, 0);
  asio::co_spawn(io_, [&]() -> Task<void> { done = !co_await listener.next(); }, asio::detached);
  settle();
  EXPECT_FALSE(done);
  listener.stop();
  settle();
  EXPECT_TRUE(done);
  end();
  settle();
}

TEST_F(LiveProcessTest, InputIsWrittenInOrderAndClosed) {
  const auto process = start({1 << 20, Input::kOpen, "", ""});
  int written = 0;
  for (const char* text : {"one ", "two"}) {
    asio::co_spawn(
        io_, [&, text]() -> Task<void> { written += (co_await process->write_input(text)).has_value() ? 1 : 0; },
        asio::detached);
  }
  settle();
  EXPECT_EQ(written, 2);
  ASSERT_TRUE(process->close_input());
  EXPECT_EQ(*read_all(in_.get(), 100, "pipe"), "one two");
  EXPECT_EQ(process->close_input().error().code, Code::kConflict);
  end();
  settle();
}

TEST_F(LiveProcessTest, AnInputThatNobodyReadsEndsWithTheProcess) {
  const auto process = start({1 << 20, Input::kOpen, "", ""});
  std::optional<Result<void>> outcome;
  asio::co_spawn(
      io_, [&]() -> Task<void> { outcome.emplace(co_await process->write_input(std::string(1 << 20, 'x'))); },
      asio::detached);
  settle();
  EXPECT_FALSE(outcome);
  end();
  settle();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error().code, Code::kConflict);
}

TEST_F(LiveProcessTest, AnotherServerGoesOnWithOneThatRunsAndWithOneThatIsOver) {
  const auto process = start();
  write(out_, "before ");
  settle();
  KeptThing thing{"", record_->note(), {}};
  thing.descriptors.emplace_back(::fcntl(record_->output().file().get(), F_DUPFD_CLOEXEC, 0));
  end(7 << 8);
  settle();
  process->note_told();
  const auto found = *ProcessRecord::open(nullptr, thing);
  const auto again = LiveProcess::go_on(io_.get_executor(), Process{}, *read_process_note(found->note()), found);
  EXPECT_TRUE(again->over());
  EXPECT_EQ(again->exit()->status, 7 << 8);
  EXPECT_EQ(again->tag(), "a tag");
  EXPECT_EQ(again->spec().arguments, std::vector<std::string>{"test"});
  EXPECT_TRUE(again->was_told());
  EXPECT_EQ(read_all_of(again), "before ");
}

TEST_F(LiveProcessTest, WithoutInputOrTerminalThereIsNothingToWriteToOrResize) {
  const auto process = start();
  EXPECT_EQ(::read(in_.get(), nullptr, 0), 0);
  EXPECT_EQ(process->resize(10, 10).error().code, Code::kConflict);
  EXPECT_EQ(process->close_input().error().code, Code::kConflict);
  end();
  settle();
}

}  // namespace
}  // namespace bj
