#include "engine/packets.h"

#include <sys/socket.h>

#include "sys/socket.h"

namespace bj {

PacketSocket::PacketSocket(const asio::any_io_executor& executor, Fd socket, size_t max_packet)
    : descriptor_(executor, socket.release()), buffer_(max_packet) {}

void PacketSocket::start(Handler on_packet, Closed on_closed) {
  on_packet_ = std::move(on_packet);
  on_closed_ = std::move(on_closed);
  spawn(descriptor_.get_executor(), [self = shared_from_this()]() -> Task<void> { co_await self->read_loop(); });
}

Result<void> PacketSocket::send(std::string_view bytes, const std::vector<int>& descriptors) {
  if (!descriptor_.is_open()) return fail(Code::kUnavailable, "the socket is closed");
  return send_message(descriptor_.native_handle(), bytes, descriptors, MSG_DONTWAIT);
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

// False when the peer is gone.
bool PacketSocket::read_available() {
  while (descriptor_.is_open()) {
    Result<Message> message =
        receive_message(descriptor_.native_handle(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (!message) return message.error().sys == EAGAIN;
    if (message->size == 0) return false;
    if (!message->truncated && on_packet_) on_packet_({buffer_.data(), message->size}, std::move(message->descriptors));
  }
  return true;
}

}  // namespace bj
