#include "bench/nginx.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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
  ProgramSpec spec;
  spec.path = kProgram;
  spec.arguments = {kProgram, "-c", std::string(directory) + "/nginx.conf", "-p", directory};
  BJ_TRY(nginx.program_, Program::start(spec));
  for (int i = 0; i < kTries; ++i) {
    if (PlainClient::connect(port, "")) return nginx;
    ::usleep(10'000);
  }
  return fail(Code::kUnavailable,
              "it does not listen: " + read_file(std::string(directory) + "/error.log").value_or(""));
}

Nginx::Nginx(Nginx&& other) noexcept
    : program_(std::exchange(other.program_, std::nullopt)),
      directory_(std::exchange(other.directory_, "")),
      port_(other.port_) {}

Nginx::~Nginx() {
  if (program_) (void)program_->end();
  if (!directory_.empty()) (void)remove_tree(AT_FDCWD, directory_);
}

}  // namespace bj
