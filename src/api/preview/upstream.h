// A connection to a port inside a sandbox, and one request over it. What answers there is hostile: heads are bounded
// and read strictly, every wait has an end.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/preview/tls_client.h"
#include "base/async.h"
#include "control/live_sandbox.h"

namespace bj::preview {

// What the program at the port speaks.
enum class Speaks { kPlain, kTls };

class Upstream {
 public:
  // A port that nobody listens on is tried a few times. The sandbox's error if nobody does then.
  static Task<Result<std::shared_ptr<Upstream>>> open(std::shared_ptr<LiveSandbox> sandbox, uint16_t port,
                                                      Speaks speaks);

  // False: it is gone, or does not read.
  Task<bool> write(std::string_view bytes);
  // Empty: it has ended, or is silent for so long.
  Task<std::string> read(Clock::duration patience);
  // Who waits goes on.
  void close();

 private:
  Upstream(const asio::any_io_executor& executor, Fd socket);
  Task<bool> wait(bool to_read, Clock::duration patience);
  Task<Result<void>> begin_tls();
  // As they go over the connection.
  Task<bool> send(std::string_view bytes);
  Task<std::string> receive(Clock::duration patience);

  asio::posix::stream_descriptor socket_;
  std::unique_ptr<TlsClient> tls_;  // none: it speaks plainly
};

}  // namespace bj::preview
