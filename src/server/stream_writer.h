// The body of a streamed response on its way out: pieces one after the other, as chunks, and heartbeats in between.
// Internal to the server.
#pragma once

#include <functional>

#include "base/change.h"
#include "base/turn.h"
#include "server/event_stream.h"

namespace bj {

enum class Chunked { kNo, kYes };

class StreamWriter : public BodyWriter {
 public:
  // Sends two pieces of bytes one after the other; false if the client is gone.
  using Send = std::function<Task<bool>(std::string_view, std::string_view)>;

  StreamWriter(const asio::any_io_executor& executor, Send send, Chunked chunked)
      : executor_(executor),
        send_(std::move(send)),
        chunked_(chunked),
        turn_(executor),
        pulse_(executor),
        done_(executor) {}

  Task<bool> write(std::string piece) override;
  void end_with(std::string piece) override { last_ = std::move(piece); }
  bool gone() const override { return gone_; }
  void abandon() override { abandoned_ = true; }
  bool abandoned() const { return abandoned_; }

  // `text`, whenever nothing was written for so long.
  void start_heartbeat(Clock::duration interval, std::string text);
  // Must be awaited before it is destroyed. Not whole: the client is to notice that something is missing.
  Task<bool> finish(bool whole);

 private:
  Task<void> beat(Clock::duration interval, std::string text);

  asio::any_io_executor executor_;
  Send send_;
  Chunked chunked_;
  Turn turn_;
  asio::steady_timer pulse_;
  Change done_;  // told when the heartbeat has ended
  std::string last_;
  Clock::time_point written_ = Clock::now();
  bool beating_ = false;
  bool finishing_ = false;
  bool gone_ = false;
  bool abandoned_ = false;
};

}  // namespace bj
