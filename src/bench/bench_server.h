// A `belljar serve` of the benchmark's own, as a process: what its clients see is what any client sees. And a client
// that does one request at a time on a connection that stays open.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/async.h"
#include "bench/sample.h"
#include "sys/program.h"

namespace bj {

class BenchServer {
 public:
  // `directory` must not exist; it goes with the server. Blocks until it listens.
  static Result<BenchServer> start(const std::string& directory);
  BenchServer(BenchServer&& other) noexcept;
  BenchServer& operator=(BenchServer&&) = delete;
  ~BenchServer();

  uint16_t port() const { return port_; }
  const std::string& key() const { return key_; }
  std::string log() const { return directory_ + "/log"; }

 private:
  BenchServer(Program program, std::string directory)
      : program_(std::move(program)), directory_(std::move(directory)) {}

  std::optional<Program> program_;
  std::string directory_;
  uint16_t port_ = 0;
  std::string key_;
};

// Blocks; for a thread that has nothing else to do.
class PlainClient {
 public:
  static Result<PlainClient> connect(uint16_t port, std::string key);

  struct Answer {
    int status = 0;
    std::string body;  // unless it was only counted
    uint64_t body_bytes = 0;
  };
  // `body` is sent `times` times over. A body of more than 1 MiB is counted and not kept.
  Result<Answer> ask(std::string_view method, const std::string& path, std::string_view body = {}, uint64_t times = 1);
  // One that must be answered with 2xx.
  Result<std::string> text(std::string_view method, const std::string& path, std::string_view body = {});

 private:
  PlainClient(Fd socket, std::string key) : socket_(std::move(socket)), key_(std::move(key)) {}
  Result<void> send(std::string_view bytes);
  Result<size_t> receive();  // into buffer_, after what is there

  Fd socket_;
  std::string key_;
  std::string buffer_;
};

}  // namespace bj
