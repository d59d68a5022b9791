#include "engine/packets.h"

#include <sys/socket.h>

#include "sys/socket.h"

namespace bj {
namespace {

constexpr int kPacketsAtOnce = 64;

}  // namespace

PacketSocket::PacketSocket(const asio::any_io_executor& executor, Fd socket, size_t max_packet)
    : descriptor_(executor, socket.release()), buffer_(max_packet), sent_(executor) {}

void PacketSocket::start(Handler on_packet, Closed on_closed) {
  on_packet_ = std::move(on_packet);
  on_closed_ = std::move(on_closed);
  spawn(descriptor_.get_executor(), [self = shared_from_this()]() -> Task<void> { co_await self->read_loop(); });
}

Result<void> PacketSocket::send(std::string_view bytes, const std::vector<int>& descriptors) {
  if (!descriptor_.is_open()) return fail(Code::kUnavailable, "the socket is closed");
  return send_message(descriptor_.native_handle(), bytes, descriptors, MSG_DONTWAIT);
}

Task<Result<void>> PacketSocket::deliver(std::string bytes, std::vector<int> descriptors) {
  const auto self = shared_from_this();
  for (;;) {
    Result<void> sent = send(bytes, descriptors);
    if (sent || sent.error().sys != EAGAIN) co_return sent;
    if (!co_await writable(descriptor_)) co_return fail(Code::kUnavailable, "the socket is closed");
  }
}

Result<void> PacketSocket::send(const Posted& posted) {
  std::vector<int> descriptors;
  for (const Fd& fd : posted.descriptors) descriptors.push_back(fd.get());
  return send(posted.bytes, descriptors);
}

void PacketSocket::post(std::string bytes, std::vector<Fd> descriptors) {
  Posted posted{std::move(bytes), std::move(descriptors)};
  const bool waits = !posted_.empty();
  if (!waits) {
    const Result<void> sent = send(posted);
    if (sent || sent.error().sys != EAGAIN) return;
  }
  posted_.push_back(std::move(posted));
  if (!waits) spawn(descriptor_.get_executor(), [self = shared_from_this()] { return self->send_posted(); });
}

Task<void> PacketSocket::send_posted() {
  while (!posted_.empty() && descriptor_.is_open() && co_await writable(descriptor_)) {
    while (!posted_.empty()) {
      const Result<void> sent = send(posted_.front());
      if (!sent && sent.error().sys == EAGAIN) break;
      posted_.pop_front();
    }
  }
  posted_.clear();
  sent_.tell();
}

Task<void> PacketSocket::all_sent() {
  const auto self = shared_from_this();
  while (!posted_.empty()) co_await sent_.wait();
}

void PacketSocket::close() {
  on_packet_ = nullptr;
  on_closed_ = nullptr;
  boost::system::error_code ignored;
  descriptor_.close(ignored);
}

Task<void> PacketSocket::read_loop() {
  while (descriptor_.is_open() && co_await readable(descriptor_)) {
    if (!read_available()) break;
  }
  if (const Closed closed = std::move(on_closed_); closed) closed();
}

// False when the peer is gone. Bounded: a peer that sends as fast as we read must not keep this thread from its other
// work, the wall clock included.
bool PacketSocket::read_available() {
  for (int i = 0; i < kPacketsAtOnce && descriptor_.is_open(); ++i) {
    const bool after = takes_after_;
    Result<Message> message = receive_message(descriptor_.native_handle(), buffer_.data(), buffer_.size(),
                                              MSG_DONTWAIT | (after ? MSG_PEEK : 0));
    if (!message) return message.error().sys == EAGAIN;
    if (message->size == 0) return false;
    if (!message->truncated && on_packet_) on_packet_({buffer_.data(), message->size}, std::move(message->descriptors));
    if (after && descriptor_.is_open())
      (void)receive_message(descriptor_.native_handle(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  }
  return true;
}

}  // namespace bj
