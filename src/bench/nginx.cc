#include "bench/nginx.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "base/fd.h"
#include "bench/bench_server.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr const char* kProgram = "/usr/sbin/nginx";
constexpr int kTries = 200;

// As it is installed, but for directories of our own; sendfile on, as distributions have it.
constexpr const char* kConfig =
    R"(daemon off; master_process off; worker_processes 1; pid {0}/pid; error_log {0}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; sendfile on; tcp_nopush on; client_max_body_size 0; keepalive_requests 100000;
  client_body_temp_path {0}/body; proxy_temp_path {0}/t1; fastcgi_temp_path {0}/t2; uwsgi_temp_path {0}/t3; scgi_temp_path {0}/t4;
  server {{ listen 127.0.0.1:{1}; root {0}/files; location / {{ dav_methods PUT DELETE; create_full_put_path on; }} }}
}}
)";

// A port that was free a moment ago.
Result<uint16_t> free_port() {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return fail_errno("bind");
  return ntohs(address.sin_port);
}

Result<pid_t> spawn_nginx(const std::string& directory) {
  std::array<std::string, 5> words = {kProgram, "-c", directory + "/nginx.conf", "-p", directory};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd = 0; fd < 3; ++fd) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, kProgram, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail_with(error, "spawn(nginx)");
  return pid;
}

}  // namespace

Result<Nginx> Nginx::start() {
  if (::access(kProgram, X_OK) != 0) return fail(Code::kUnavailable, "install the package nginx-light");
  char directory[] = "/dev/shm/belljar-nginx-XXXXXX";
  if (::mkdtemp(directory) == nullptr) return fail_errno("mkdtemp");
  BJ_TRY(const uint16_t port, free_port());
  Nginx nginx(directory, port);
  if (::chmod(directory, 0755) != 0) return fail_errno("chmod");
  BJ_CHECK(make_directories(std::string(directory) + "/files", 0777));
  BJ_CHECK(write_file_atomically(std::string(directory) + "/nginx.conf", fmt::format(kConfig, directory, port), 0644));
  BJ_TRY(nginx.pid_, spawn_nginx(directory));
  for (int i = 0; i < kTries; ++i) {
    if (PlainClient::connect(port, "")) return nginx;
    ::usleep(10'000);
  }
  return fail(Code::kUnavailable,
              "it does not listen: " + read_file(std::string(directory) + "/error.log").value_or(""));
}

Nginx::Nginx(Nginx&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), directory_(std::exchange(other.directory_, "")), port_(other.port_) {}

Nginx::~Nginx() {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  if (!directory_.empty()) (void)remove_tree(AT_FDCWD, directory_);
}

}  // namespace bj
