#include "server/stream_writer.h"

#include <fmt/format.h>

namespace bj {
namespace {

std::string chunk_head(std::string_view piece) { return fmt::format("{:x}\r\n", piece.size()); }

}  // namespace

Task<bool> StreamWriter::write(std::string piece) {
  if (piece.empty() || gone_) co_return !gone_;  // an empty chunk would be the end
  if (!co_await turn_.enter()) co_return false;
  if (chunked_ == Chunked::kYes) {
    const std::string head = chunk_head(piece);
    piece += "\r\n";
    gone_ = gone_ || !co_await send_(head, piece);
  } else {
    gone_ = gone_ || !co_await send_(piece, {});
  }
  written_ = Clock::now();
  turn_.leave();
  co_return !gone_;
}

void StreamWriter::start_heartbeat(Clock::duration interval, std::string text) {
  beating_ = true;
  asio::co_spawn(executor_, beat(interval, std::move(text)), [this](const std::exception_ptr&) {
    beating_ = false;
    done_.tell();
  });
}

Task<void> StreamWriter::beat(Clock::duration interval, std::string text) {
  while (!finishing_ && !gone_) {
    pulse_.expires_at(written_ + interval);
    (void)co_await expired(pulse_);
    if (!finishing_ && Clock::now() >= written_ + interval) (void)co_await write(text);
  }
}

Task<bool> StreamWriter::finish(bool whole) {
  finishing_ = true;
  pulse_.cancel();
  while (beating_) {
    co_await done_.wait();
  }
  if (gone_ || abandoned_ || !whole) co_return false;
  if (chunked_ == Chunked::kNo) co_return co_await send_(last_, {});
  constexpr std::string_view kEnd = "0\r\n\r\n";
  if (last_.empty()) co_return co_await send_(kEnd, {});
  const std::string head = chunk_head(last_);
  last_ += "\r\n";
  last_ += kEnd;
  co_return co_await send_(head, last_);
}

}  // namespace bj
