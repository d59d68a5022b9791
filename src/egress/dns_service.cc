#include "egress/dns_service.h"

#include <netinet/in.h>

#include <array>
#include <boost/asio/write.hpp>

#include "sys/socket.h"

namespace bj {
namespace {

constexpr auto kAfterAFailedAccept = std::chrono::milliseconds(50);

}  // namespace

DnsService::DnsService(const asio::any_io_executor& executor, Fd streams, Fd packets, Answer answer)
    : streams_(executor, asio::ip::tcp::v6(), streams.release()),
      packets_(executor, packets.release()),
      answer_(std::move(answer)) {}

void DnsService::start() {
  const auto self = shared_from_this();
  spawn(packets_.get_executor(), [self]() -> Task<void> { co_await self->serve_packets(); });
  spawn(packets_.get_executor(), [self]() -> Task<void> { co_await self->accept_streams(); });
}

void DnsService::stop() {
  boost::system::error_code ignored;
  streams_.close(ignored);
  packets_.close(ignored);
  answer_ = nullptr;
}

Task<void> DnsService::serve_packets() {
  constexpr int kAtOnce = 64;
  while (packets_.is_open() && co_await readable(packets_)) {
    for (int i = 0; i < kAtOnce && packets_.is_open() && answer_packet(); ++i) {
    }
  }
}

// False: none is waiting. The answer leaves from the address that was asked.
bool DnsService::answer_packet() {
  std::array<char, dns::kMaxQuery> bytes;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in6_pktinfo))> control{};
  sockaddr_in6 peer{};
  iovec part{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_name = &peer;
  header.msg_namelen = sizeof peer;
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const Moved received = receive_packet(packets_.native_handle(), header, MSG_DONTWAIT);
  if (!received.ok()) return !received.not_now();
  if ((header.msg_flags & MSG_TRUNC) != 0 || !answer_) return true;
  std::string answer = answer_({bytes.data(), received.size}, DnsTransport::kUdp);
  if (answer.empty()) return true;
  if (cmsghdr* info = CMSG_FIRSTHDR(&header); info != nullptr && info->cmsg_type == IPV6_PKTINFO) {
    reinterpret_cast<in6_pktinfo*>(CMSG_DATA(info))->ipi6_ifindex = 0;
  }
  part = {answer.data(), answer.size()};
  (void)::sendmsg(packets_.native_handle(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  return true;
}

Task<void> DnsService::accept_streams() {
  const auto self = shared_from_this();
  while (streams_.is_open()) {
    auto [error, stream] = co_await streams_.async_accept(kNoThrow);
    if (error && streams_.is_open()) {
      asio::steady_timer pause(streams_.get_executor(), kAfterAFailedAccept);
      (void)co_await expired(pause);
    }
    if (error || open_streams_ >= kMostStreams) continue;
    ++open_streams_;
    auto serve = [self, held = std::make_shared<asio::ip::tcp::socket>(std::move(stream))]() -> Task<void> {
      co_await self->serve_stream(std::move(*held));
    };
    spawn(streams_.get_executor(), std::move(serve));
  }
}

Task<void> DnsService::serve_stream(asio::ip::tcp::socket stream) {
  const auto self = shared_from_this();
  const auto socket = std::make_shared<asio::ip::tcp::socket>(std::move(stream));
  asio::steady_timer timer(socket->get_executor(), kStreamIdle);
  timer.async_wait([socket](const boost::system::error_code& error) {
    boost::system::error_code ignored;
    if (!error) socket->close(ignored);
  });
  std::string buffer;
  std::array<char, dns::kMaxQuery> bytes;
  for (bool good = true; good && socket->is_open() && answer_;) {
    const auto [error, size] = co_await socket->async_read_some(asio::buffer(bytes), kNoThrow);
    if (error) break;
    buffer.append(bytes.data(), size);
    DnsFrame frame = next_dns_frame(buffer);
    for (; good && answer_ && frame.status == DnsFrame::Status::kMessage; frame = next_dns_frame(buffer)) {
      const std::string reply = answer_(frame.message, DnsTransport::kTcp);
      buffer.erase(0, frame.used);
      if (reply.empty()) continue;
      const std::string framed = frame_dns_message(reply);
      const auto [failed, ignored] = co_await asio::async_write(*socket, asio::buffer(framed), kNoThrow);
      good = !failed;
    }
    if (frame.status == DnsFrame::Status::kBad) break;
  }
  timer.cancel();
  --open_streams_;
}

}  // namespace bj
