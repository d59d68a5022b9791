#include "bench/bench_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>

#include "sys/files.h"
#include "sys/pipe.h"

namespace bj {
namespace {

constexpr size_t kMostKept = 1 << 20;
constexpr const char* kConfig =
    "[sandboxes]\nmost_live = 0\n[server]\nrate_limit = 0\nruns_at_once = 0\nbody_bytes = 0\n";

// The number after "listening on http://127.0.0.1:".
Result<uint16_t> read_port(const Fd& output) {
  std::string said;
  char bytes[512];
  constexpr std::string_view kBefore = "listening on http://127.0.0.1:";
  for (;;) {
    const ssize_t n = ::read(output.get(), bytes, sizeof bytes);
    if (n <= 0) return fail(Code::kUnavailable, "the server did not start: its error stands above");
    said.append(bytes, static_cast<size_t>(n));
    const size_t at = said.find(kBefore);
    if (at == std::string::npos || said.find('\n', at) == std::string::npos) continue;
    uint16_t port = 0;
    const char* const first = said.data() + at + kBefore.size();
    std::from_chars(first, said.data() + said.size(), port);
    return port;
  }
}

Result<Program> start_server(const std::string& directory, const Fd& output) {
  BJ_TRY(const Fd log, open_path(directory + "/log", O_WRONLY | O_CREAT | O_APPEND, 0600));
  ProgramSpec spec;
  spec.path = "/proc/self/exe";
  spec.arguments = {"belljar",  "--config",   directory + "/config.toml", "--data", directory + "/data", "serve",
                    "--listen", "127.0.0.1:0"};
  spec.output = output.get();
  spec.error = log.get();
  return Program::start(spec);
}

// The value of a header of an answer's head; empty: there is none.
std::string_view header_of(std::string_view head, std::string_view lower_name) {
  for (size_t at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at + 2)) {
    const std::string_view line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    const size_t colon = line.find(':');
    if (colon != lower_name.size()) continue;
    const bool same = std::equal(lower_name.begin(), lower_name.end(), line.begin(),
                                 [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); });
    if (same) return line.substr(line.find_first_not_of(' ', colon + 1));
  }
  return {};
}

}  // namespace

Result<BenchServer> BenchServer::start(const std::string& directory) {
  BJ_CHECK(make_directories(directory, 0700));
  BJ_CHECK(write_file_atomically(directory + "/config.toml", kConfig, 0600));
  BJ_TRY(Pipe output, make_pipe());
  BJ_TRY(Program program, start_server(directory, output.write));
  BenchServer server(std::move(program), directory);
  output.write.reset();
  BJ_TRY(server.port_, read_port(output.read));
  BJ_TRY(server.key_, read_file(directory + "/data/admin.key"));
  server.key_.erase(server.key_.find_last_not_of('\n') + 1);
  return server;
}

BenchServer::BenchServer(BenchServer&& other) noexcept
    : program_(std::exchange(other.program_, std::nullopt)),
      directory_(std::move(other.directory_)),
      port_(other.port_),
      key_(std::move(other.key_)) {}

BenchServer::~BenchServer() {
  if (!program_) return;
  (void)program_->end();
  (void)remove_tree(AT_FDCWD, directory_);
}

Result<PlainClient> PlainClient::connect(uint16_t port, std::string key) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.ok()) return fail_errno("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail_errno("connect");
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return PlainClient(std::move(socket), std::move(key));
}

Result<void> PlainClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0) return fail_errno("send");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Result<size_t> PlainClient::receive() {
  const size_t before = buffer_.size();
  buffer_.resize(before + (256 << 10));
  const ssize_t n = ::recv(socket_.get(), buffer_.data() + before, buffer_.size() - before, 0);
  buffer_.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
  if (n < 0) return fail_errno("recv");
  if (n == 0) return fail(Code::kUnavailable, "the server closed the connection");
  return static_cast<size_t>(n);
}

Result<PlainClient::Answer> PlainClient::ask(std::string_view method, const std::string& path, std::string_view body,
                                             uint64_t times) {
  BJ_CHECK(send(fmt::format(
      "{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {}\r\nContent-Type: {}\r\n"
      "Content-Length: {}\r\n\r\n",
      method, path, key_, method == "PUT" ? "application/octet-stream" : "application/json", body.size() * times)));
  for (uint64_t i = 0; i < times; ++i) BJ_CHECK(send(body));  // without Nagle's wait: the header went alone
  buffer_.clear();
  size_t end = std::string::npos;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) BJ_CHECK(receive());
  const std::string head = buffer_.substr(0, end + 2);
  buffer_.erase(0, end + 4);
  Answer answer;
  answer.status = std::atoi(head.c_str() + 9);
  uint64_t length = 0;
  const std::string_view text = header_of(head, "content-length");
  std::from_chars(text.data(), text.data() + text.size(), length);
  while (answer.body_bytes + buffer_.size() < length) {
    BJ_CHECK(receive());
    if (length <= kMostKept) continue;
    answer.body_bytes += buffer_.size();
    buffer_.clear();
  }
  answer.body_bytes += buffer_.size();
  answer.body = std::move(buffer_);
  return answer;
}

Result<std::string> PlainClient::text(std::string_view method, const std::string& path, std::string_view body) {
  BJ_TRY(Answer answer, ask(method, path, body));
  if (answer.status / 100 == 2) return std::move(answer.body);
  return fail(Code::kInternal,
              fmt::format("{} {} was answered with {}: {}", method, path, answer.status, answer.body.substr(0, 300)));
}

}  // namespace bj
