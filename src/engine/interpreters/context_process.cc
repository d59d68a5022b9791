#include "engine/interpreters/context_process.h"

#include <sys/socket.h>

#include "sys/bytes.h"
#include "sys/pipe.h"
#include "sys/socket.h"

namespace bj {
namespace {

constexpr size_t kPiece = 64 * 1024;
// What a pipe holds, read twice over: everything that was in it when a message came.
constexpr size_t kReadsBeforeMessage = 4;
// Of the one thread that everybody shares, at a time.
constexpr auto kShare = std::chrono::milliseconds(2);

}  // namespace

Result<ContextPipes> ContextPipes::make() {
  ContextPipes pipes;
  BJ_TRY(auto channel, guarded_socket_pair(SOCK_STREAM));
  BJ_TRY(Pipe output, make_stream_pipe());
  BJ_TRY(Pipe error, make_stream_pipe());
  pipes.ours.channel = std::move(channel.first);
  pipes.ours.output = std::move(output.read);
  pipes.ours.error = std::move(error.read);
  pipes.channel = std::move(channel.second);
  pipes.output = std::move(output.write);
  pipes.error = std::move(error.write);
  return pipes;
}

std::shared_ptr<ContextProcess> ContextProcess::adopt(const asio::any_io_executor& executor, ContextEnds ends) {
  std::shared_ptr<ContextProcess> process(new ContextProcess(executor, std::move(ends)));
  for (Source* source : {&process->channel_, &process->output_, &process->error_}) process->watch(*source);
  return process;
}

ContextProcess::ContextProcess(const asio::any_io_executor& executor, ContextEnds ends)
    : changed_(executor),
      channel_(executor, std::move(ends.channel)),
      output_(executor, std::move(ends.output)),
      error_(executor, std::move(ends.error)),
      pid_(ends.pid) {
  if (ends.input.ok()) input_ = std::make_unique<Stream>(executor, ends.input.release());
  boost::system::error_code ignored;
  for (Source* source : {&channel_, &output_, &error_}) source->stream.native_non_blocking(true, ignored);
  if (input_) input_->native_non_blocking(true, ignored);
}

std::vector<int> ContextProcess::descriptors() {
  std::vector<int> ours;
  for (Source* source : {&channel_, &output_, &error_}) ours.push_back(source->stream.native_handle());
  if (input_) ours.push_back(input_->native_handle());
  return ours;
}

void ContextProcess::watch(Source& source) {
  if (source.waiting || source.readable || source.ended || !source.stream.is_open()) return;
  source.waiting = true;
  source.stream.async_wait(Stream::wait_read,
                           [self = shared_from_this(), &source](const boost::system::error_code& error) {
                             source.waiting = false;
                             if (!error) self->on_readable(source);
                           });
}

void ContextProcess::on_readable(Source& source) {
  source.readable = true;
  if (!reading_) {
    if (&source == &channel_) {
      read_messages();
      while (!frames_.empty()) (void)frames_.next();
    } else {
      (void)read_piece(source);
    }
    source.readable = false;  // what is left is reported again
    watch(source);
  }
  wake();
}

void ContextProcess::set_reading(Reading reading) {
  reading_ = reading == Reading::kOn;
  busy_since_ = Clock::now();
  if (reading_) return;
  for (Source* source : {&channel_, &output_, &error_}) {
    if (source->readable) on_readable(*source);
    watch(*source);
  }
}

std::optional<std::string> ContextProcess::read_piece(Source& source) {
  std::string bytes(kPiece, '\0');
  const Moved read = read_some(source.stream.native_handle(), bytes.data(), bytes.size());
  source.readable = read.size == kPiece;  // a short read: nothing more now
  if (read.size == 0) {
    source.ended = source.ended || !read.not_now();
    return std::nullopt;
  }
  bytes.resize(read.size);
  return bytes;
}

void ContextProcess::read_messages() {
  while (std::optional<std::string> bytes = read_piece(channel_)) {
    if (!frames_.feed(*bytes)) over_ = true;
    if (over_ || !frames_.empty() || bytes->size() < kPiece) break;
  }
  if (channel_.ended) over_ = true;
  owed_ = kReadsBeforeMessage;
}

// With a message waiting, output is read whether or not its readiness was reported yet, but not for ever: something
// that the code left running may print without end.
std::optional<ContextProcess::Piece> ContextProcess::take_output() {
  const bool due = !frames_.empty() || over_;
  if (due && owed_ == 0) return std::nullopt;
  for (Source* source : {&output_, &error_}) {
    if (source->ended || (!due && !source->readable)) continue;
    if (std::optional<std::string> bytes = read_piece(*source)) {
      if (due) --owed_;
      const bool error = source == &error_;
      return Piece{error ? Piece::Kind::kErrorOutput : Piece::Kind::kOutput, std::move(*bytes), {}};
    }
  }
  return std::nullopt;
}

std::optional<ContextProcess::Piece> ContextProcess::take() {
  if (frames_.empty() && channel_.readable && !over_) read_messages();
  if (std::optional<Piece> output = take_output()) return output;
  if (!frames_.empty()) {
    Result<ContextMessage> message = decode_context_message(frames_.next());
    owed_ = kReadsBeforeMessage;
    if (message) return Piece{Piece::Kind::kMessage, {}, std::move(*message)};
    over_ = true;
  }
  for (Source* source : {&channel_, &output_, &error_}) watch(*source);
  return std::nullopt;
}

Task<void> ContextProcess::change(Clock::time_point latest) {
  const auto self = shared_from_this();
  co_await changed_.wait_until(latest);
  busy_since_ = Clock::now();
}

Task<void> ContextProcess::give_way() {
  if (Clock::now() - busy_since_ < kShare) co_return;
  const auto self = shared_from_this();
  co_await asio::post(co_await asio::this_coro::executor, kNoThrow);
  busy_since_ = Clock::now();
}

Task<Result<ContextMessage>> ContextProcess::message_within(std::chrono::milliseconds patience, std::string nonce) {
  const auto self = shared_from_this();
  const auto deadline = Clock::now() + patience;
  set_reading(Reading::kOn);
  while (Clock::now() < deadline) {
    co_await give_way();
    if (std::optional<Piece> piece = take()) {
      const bool message = piece->kind == Piece::Kind::kMessage;
      if (message && (nonce.empty() || piece->message.nonce == nonce)) co_return std::move(piece->message);
      continue;
    }
    if (over_) co_return fail(Code::kUnavailable, "the context's process ended");
    co_await change(deadline);
  }
  co_return fail(Code::kUnavailable, "the context does not answer");
}

void ContextProcess::write(const std::string& bytes) {
  unsent_ += bytes;
  flush();
}

void ContextProcess::flush() {
  Stream& stream = input_ ? *input_ : channel_.stream;
  while (!unsent_.empty() && !writing_ && stream.is_open()) {
    const std::string_view rest = std::string_view(unsent_).substr(sent_);
    const Moved sent = input_ ? write_some(stream.native_handle(), rest) : send_some(stream.native_handle(), rest);
    sent_ += sent.size;
    if (sent_ == unsent_.size()) {  // only then: a reader of small pieces would have the rest moved for each
      unsent_.clear();
      sent_ = 0;
    }
    if (sent.not_now()) {
      writing_ = true;
      stream.async_wait(Stream::wait_write, [self = shared_from_this()](const boost::system::error_code& error) {
        self->writing_ = false;
        if (!error) self->flush();
      });
    } else if (!sent.ok()) {
      over_ = true;
      return wake();
    }
  }
}

Result<void> ContextProcess::send(const std::string& frame, const std::vector<int>& descriptors) {
  if (over_ || !unsent_.empty()) return fail(Code::kUnavailable, "the context does not answer");
  return send_message(channel_.stream.native_handle(), frame, descriptors, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void ContextProcess::close() {
  over_ = true;
  boost::system::error_code ignored;
  for (Source* source : {&channel_, &output_, &error_}) source->stream.close(ignored);
  if (input_) input_->close(ignored);
  wake();
}

}  // namespace bj
