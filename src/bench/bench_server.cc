#include "bench/bench_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
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

Result<pid_t> spawn_server(const std::string& config, const std::string& data, const std::string& log,
                           const Fd& output) {
  std::array<std::string, 8> words = {"/proc/self/exe", "--config", config,       "--data", data,
                                      "serve",          "--listen", "127.0.0.1:0"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail_with(error, "spawn(belljar serve)");
  return pid;
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
  BJ_TRY(const pid_t pid,
         spawn_server(directory + "/config.toml", directory + "/data", directory + "/log", output.write));
  BenchServer server(pid, directory);
  output.write.reset();
  BJ_TRY(server.port_, read_port(output.read));
  BJ_TRY(server.key_, read_file(directory + "/data/admin.key"));
  server.key_.erase(server.key_.find_last_not_of("\n") + 1);
  return server;
}

BenchServer::BenchServer(BenchServer&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      directory_(std::move(other.directory_)),
      port_(other.port_),
      key_(std::move(other.key_)) {}

BenchServer::~BenchServer() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
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
