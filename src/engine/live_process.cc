#include "engine/live_process.h"

#include <sys/ioctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <functional>

#include "sys/bytes.h"
#include "sys/duplicate.h"

namespace bj {
namespace {

using Stream = asio::posix::stream_descriptor;
constexpr size_t kReadBytes = 32 * 1024;
constexpr int kLastReads = 64;  // of a stream whose process has ended: what a pipe can hold
// What the children of a process that ended still have to say, as `tee` does behind a redirect, is waited for so long.
constexpr auto kLastWords = std::chrono::milliseconds(500);

std::shared_ptr<Stream> stream_of(const asio::any_io_executor& executor, Fd fd) {
  auto stream = std::make_shared<Stream>(executor, fd.release());
  boost::system::error_code ignored;
  stream->native_non_blocking(true, ignored);
  return stream;
}

int64_t ns_of(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

Clock::time_point time_of(int64_t ns) { return Clock::time_point(std::chrono::nanoseconds(ns)); }

// False: there will be no more.
bool throw_away(int fd) {
  std::array<char, kReadBytes> bytes;
  const Moved read = read_some(fd, bytes.data(), bytes.size());
  return read.size > 0 || read.not_now();
}

// Nobody reads it any more, but whoever still writes to it would end with it: a server that a command left behind.
Task<void> drain(std::shared_ptr<Stream> stream) {
  while (co_await readable(*stream) && throw_away(stream->native_handle())) {
  }
}

}  // namespace

struct LiveProcess::Source {
  OutputStream kind;
  std::shared_ptr<Stream> stream;
  bool ended = false;  // everything was read
};

LiveProcess::LiveProcess(const asio::any_io_executor& executor, Process process, ProcessSpec spec,
                         LiveProcessOptions options, std::shared_ptr<ProcessRecord> record)
    : executor_(executor),
      pid_(process.pid),
      spec_(std::move(spec)),
      options_(std::move(options)),
      waiter_(std::move(process.exit)),
      record_(std::move(record)),
      changed_(executor),
      started_(time_of(record_->facts().started_ns)) {
  if (record_->facts().stage == ProcessStage::kOver) {
    for (Fd* left : {&process.output, &process.error}) {
      if (!left->ok()) continue;
      sources_.push_back(
          std::make_shared<Source>(Source{OutputStream::kOutput, stream_of(executor, std::move(*left))}));
    }
    return;
  }
  if (process.terminal.ok()) {
    if (Result<Fd> writing = duplicate(process.terminal.get())) input_ = stream_of(executor, std::move(*writing));
    sources_.push_back(
        std::make_shared<Source>(Source{OutputStream::kTerminal, stream_of(executor, std::move(process.terminal))}));
    return;
  }
  if (options_.input == Input::kOpen && process.input.ok()) input_ = stream_of(executor, std::move(process.input));
  sources_.push_back(
      std::make_shared<Source>(Source{OutputStream::kOutput, stream_of(executor, std::move(process.output))}));
  sources_.push_back(
      std::make_shared<Source>(Source{OutputStream::kError, stream_of(executor, std::move(process.error))}));
}

std::shared_ptr<LiveProcess> LiveProcess::adopt(const asio::any_io_executor& executor, Process process,
                                                ProcessSpec spec, LiveProcessOptions options,
                                                std::shared_ptr<ProcessRecord> record) {
  std::shared_ptr<LiveProcess> live(
      new LiveProcess(executor, std::move(process), std::move(spec), std::move(options), std::move(record)));
  live->start();
  return live;
}

std::shared_ptr<LiveProcess> LiveProcess::go_on(const asio::any_io_executor& executor, Process process,
                                                ProcessNote note, std::shared_ptr<ProcessRecord> record) {
  LiveProcessOptions options;
  options.input = record->facts().input_open != 0 ? Input::kOpen : Input::kNone;
  options.tag = std::move(note.tag);
  options.origin = std::move(note.origin);
  return adopt(executor, std::move(process), std::move(*note.spec), std::move(options), std::move(record));
}

void LiveProcess::start() {
  const ProcessFacts& facts = record_->facts();
  stopped_by_ = facts.stopped_by;
  if (facts.stage == ProcessStage::kOver) {
    if (facts.lost == 0) exit_ = facts.exit;
    ended_ = time_of(facts.ended_ns);
    over_ = true;
    leave_streams();
    return;
  }
  for (const std::shared_ptr<Source>& source : sources_) {
    spawn(executor_, [self = shared_from_this(), source] { return self->pump(source); });
  }
  spawn(executor_, [self = shared_from_this()] { return self->watch_exit(); });
}

void LiveProcess::note_stop(const std::string& why) {
  stopped_by_ = why;
  auto& kept = record_->facts().stopped_by;
  kept[why.copy(kept, sizeof kept - 1)] = '\0';
}

void LiveProcess::note_deadline(Clock::time_point when) { record_->facts().kill_at_ns = ns_of(when); }

std::optional<Clock::time_point> LiveProcess::deadline() const {
  const int64_t at = record_->facts().kill_at_ns;
  return at == 0 ? std::nullopt : std::optional(time_of(at));
}

uint64_t LiveProcess::needed() const {
  uint64_t least = record_->output().end();
  for (const Listener* listener : listeners_) least = std::min(least, listener->place());
  return least;
}

LiveProcess::Taken LiveProcess::take(Source& source) {
  const Taken taken = record_->output().read_from(source.stream->native_handle(), source.kind, kReadBytes, needed());
  source.ended = taken == Taken::kEnd;
  if (taken != Taken::kNothingNow) notify();
  return taken;
}

Task<void> LiveProcess::pump(std::shared_ptr<Source> source) {
  while (!over_ && co_await readable(*source->stream)) {
    while (!over_ && held_up()) (void)co_await change();
    if (over_ || source->ended || take(*source) == Taken::kEnd) break;
  }
}

// What lies in the streams.
void LiveProcess::take_the_rest() {
  for (const std::shared_ptr<Source>& source : sources_) {
    for (int i = 0; i < kLastReads && !source->ended && take(*source) == Taken::kBytes; ++i) {
    }
  }
}

// Its children are waited for only as long as it takes to write what it told them to. Who killed it waits for nobody,
// and a terminal ends with its first process.
Task<void> LiveProcess::watch_exit() {
  const auto self = shared_from_this();
  const Result<ExitReport> report = co_await waiter_->get();
  const bool by_itself = report && WIFEXITED(report->status) && !spec_.terminal;
  const Clock::time_point latest = Clock::now() + kLastWords;
  const auto written_to = [](const std::shared_ptr<Source>& source) { return !source->ended; };
  take_the_rest();
  while (by_itself && std::any_of(sources_.begin(), sources_.end(), written_to) && Clock::now() < latest) {
    if (!co_await change(latest)) break;
  }
  take_the_rest();
  if (report) exit_ = *report;
  ended_ = Clock::now();
  over_ = true;
  ProcessFacts& facts = record_->facts();
  facts.lost = report ? 0 : 1;
  if (report) facts.exit = *report;
  facts.ended_ns = ns_of(ended_);
  facts.stage = ProcessStage::kOver;
  leave_streams();
  boost::system::error_code ignored;
  if (input_) input_->close(ignored);
  notify();
}

// To children that still write, for as long as they do, whichever server reads. Those that nobody writes to are closed,
// once the keeper needs them no more.
void LiveProcess::leave_streams() {
  const auto is_finished = [this](const std::shared_ptr<Source>& source) { return source->ended || spec_.terminal; };
  const auto finished = std::partition(sources_.begin(), sources_.end(), std::not_fn(is_finished));
  const auto left = std::make_shared<ptrdiff_t>(finished - sources_.begin());
  if (*left == 0)
    record_->drop_streams();
  else
    record_->drop_input();
  boost::system::error_code ignored;
  for (auto source = finished; source != sources_.end(); ++source) (*source)->stream->close(ignored);
  sources_.erase(finished, sources_.end());
  for (const std::shared_ptr<Source>& source : sources_) {
    source->stream->cancel(ignored);
    spawn(executor_, [stream = source->stream, record = record_, left]() -> Task<void> {
      co_await drain(stream);
      if (--*left == 0) record->drop_streams();
    });
  }
}

// False: whoever waits was told to give up.
Task<bool> LiveProcess::change(Clock::time_point latest) {
  co_await changed_.wait_until(latest);
  const auto state = co_await asio::this_coro::cancellation_state;
  co_return state.cancelled() == asio::cancellation_type::none;
}

Task<void> LiveProcess::ended() {
  const auto self = shared_from_this();
  while (!over_ && co_await change()) {
  }
}

Task<bool> LiveProcess::ended_by(Clock::time_point latest) {
  const auto self = shared_from_this();
  while (!over_ && Clock::now() < latest && co_await change(latest)) {
  }
  co_return over_;
}

Task<Result<void>> LiveProcess::write_input(std::string bytes) {
  const auto self = shared_from_this();
  while (writing_ && !over_) {  // pieces of two writers don't mix
    if (!co_await change()) co_return fail(Code::kUnavailable, "cancelled");
  }
  if (over_) co_return fail(Code::kConflict, "the process has ended");
  if (!input_ || !input_->is_open()) co_return fail(Code::kConflict, "the process has no input that is open");
  writing_ = true;
  const std::shared_ptr<Stream> input = input_;
  Result<void> outcome;
  std::string_view rest = bytes;
  while (!rest.empty() && outcome) {
    const Moved written = write_some(input->native_handle(), rest);
    rest.remove_prefix(written.size);
    if (written.not_now()) {
      if (!co_await writable(*input) || !input->is_open())
        outcome = fail(Code::kConflict, "the process's input was closed before it had taken everything");
    } else if (!written.ok()) {
      outcome = fail(Code::kConflict, "the process does not read its input any more");
    }
  }
  writing_ = false;
  notify();
  co_return outcome;
}

Result<void> LiveProcess::close_input() {
  if (spec_.terminal)
    return fail(Code::kConflict, "a terminal's input can't be closed: send it the character for the end, 4");
  if (!input_ || !input_->is_open()) return fail(Code::kConflict, "the process has no input that is open");
  boost::system::error_code ignored;
  input_->close(ignored);
  record_->drop_input();
  return {};
}

Result<void> LiveProcess::resize(uint16_t rows, uint16_t columns) {
  if (!spec_.terminal) return fail(Code::kConflict, "the process has no terminal");
  if (over_ || !input_) return fail(Code::kConflict, "the process has ended");
  const winsize size{rows, columns, 0, 0};
  if (::ioctl(input_->native_handle(), TIOCSWINSZ, &size) != 0) return fail_errno("ioctl(TIOCSWINSZ)");
  return {};
}

LiveProcess::Listener::Listener(std::shared_ptr<LiveProcess> process, uint64_t from)
    : process_(std::move(process)), place_(std::min(from, process_->record_->output().end())) {
  process_->listeners_.insert(this);
}

LiveProcess::Listener::~Listener() {
  process_->listeners_.erase(this);
  process_->notify();
}

void LiveProcess::Listener::stop() {
  stopped_ = true;
  process_->notify();
}

Task<std::optional<OutputPiece>> LiveProcess::Listener::next() {
  while (!stopped_) {
    std::optional<OutputPiece> piece = process_->record_->output().next(place_, kReadBytes);
    if (piece) {
      place_ = piece->offset + piece->bytes.size();
      process_->notify();
      co_return piece;
    }
    if (process_->over_ || !co_await process_->change()) break;
  }
  co_return std::nullopt;
}

}  // namespace bj
