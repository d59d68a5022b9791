// TLS on a socket of Asio's, without blocking. One reader and one writer at a time, on the socket's thread; the socket
// outlives it and is closed by its owner, which ends every wait.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/async.h"
#include "egress/tls_pointers.h"

namespace bj {

class TlsStream {
 public:
  using Socket = asio::ip::tcp::socket;
  // The socket is set not to block.
  TlsStream(Socket& socket, SslPtr ssl);

  // A failure says what is wrong with the other side's certificate, if that is it.
  Task<Result<void>> handshake();
  // Appends some bytes. 0: the other side has ended, properly.
  Task<Result<size_t>> read(std::string& into);
  // After a failed read: the other side's connection ended in order, only that it did not say so in TLS.
  bool ended_silently() const { return ended_silently_; }
  // All of them; what they lie in must stay. False: the connection is gone.
  Task<bool> write(asio::const_buffer bytes);
  // Tells the other side that nothing more comes, if that can be done at once.
  void say_goodbye();

  // On the wire.
  uint64_t bytes_in() const { return bytes_in_; }
  uint64_t bytes_out() const { return bytes_out_; }

 private:
  friend struct SocketBio;
  // Waits for what the last call wants. False: it failed for good.
  Task<bool> wait_after(int result);

  Socket& socket_;
  SslPtr ssl_;
  uint64_t bytes_in_ = 0, bytes_out_ = 0;
  bool ended_silently_ = false;
};

}  // namespace bj
