// Port 53 inside a sandbox, UDP and TCP: takes questions, bounded in size, number and time, and sends what `answer`
// says. Stays on its executor's thread; stop() ends it.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/async.h"
#include "egress/dns_message.h"

namespace bj {

class DnsService : public std::enable_shared_from_this<DnsService> {
 public:
  // Empty: no answer at all.
  using Answer = std::function<std::string(std::string_view message, DnsTransport transport)>;

  DnsService(const asio::any_io_executor& executor, Fd streams, Fd packets, Answer answer);
  void start();
  void stop();

 private:
  Task<void> serve_packets();
  bool answer_packet();
  Task<void> accept_streams();
  Task<void> serve_stream(asio::ip::tcp::socket stream);

  static constexpr int kMostStreams = 32;
  static constexpr auto kStreamIdle = std::chrono::seconds(10);

  asio::ip::tcp::acceptor streams_;
  asio::posix::stream_descriptor packets_;
  Answer answer_;
  int open_streams_ = 0;
};

}  // namespace bj
