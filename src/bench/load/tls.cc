#include "bench/load/tls.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bj::load {
namespace {

[[noreturn]] void give_up(const std::string& what) { throw std::runtime_error(what); }

SSL_CTX* client_context() {
  static SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  return context;
}

X509* self_signed(EVP_PKEY* key) {
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 24 * 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_sign(certificate, key, EVP_sha256());
  return certificate;
}

SSL_CTX* make_server_context() {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = self_signed(key);
  if (SSL_CTX_use_certificate(context, certificate) != 1 || SSL_CTX_use_PrivateKey(context, key) != 1)
    give_up("no certificate");
  X509_free(certificate);
  EVP_PKEY_free(key);
  return context;
}

SSL_CTX* server_context() {
  static SSL_CTX* const context = make_server_context();
  return context;
}

void send_at_once(int fd) {
  const int on = 1;
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

sockaddr_in address_of(const std::string& text, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1) give_up("no address: " + text);
  return address;
}

Connection::Connection(int fd, SSL_CTX* context) : fd_(fd), ssl_(SSL_new(context)) {
  send_at_once(fd_);
  SSL_set_fd(ssl_.get(), fd_);
}

Connection::Connection(Connection&& other) noexcept : fd_(std::exchange(other.fd_, -1)), ssl_(std::move(other.ssl_)) {}

Connection::~Connection() {
  if (fd_ >= 0) ::close(fd_);
}

Connection Connection::open(const std::string& address, uint16_t port, const std::string& name) {
  Connection connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), client_context());
  const sockaddr_in to = address_of(address, port);
  if (::connect(connection.fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    give_up("connect to " + address + " failed");
  const timeval patience{10, 0};  // a stall is a failure, not a benchmark that never ends
  (void)::setsockopt(connection.fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  SSL_set_tlsext_host_name(connection.ssl_.get(), name.c_str());
  if (SSL_connect(connection.ssl_.get()) != 1) give_up("no TLS with " + address);
  return connection;
}

Connection Connection::accepted(int fd) {
  Connection connection(fd, server_context());
  if (SSL_accept(connection.ssl_.get()) != 1) give_up("no TLS with a client");
  return connection;
}

void Connection::write(const std::string& text) {
  if (SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) <= 0) give_up("the connection is gone");
}

size_t Connection::read_some(char* into, size_t size) {
  const int got = SSL_read(ssl_.get(), into, static_cast<int>(size));
  return got > 0 ? static_cast<size_t>(got) : 0;
}

std::string Connection::read_request() {
  std::string head;
  char buffer[4096];
  while (!head.ends_with("\r\n\r\n")) {
    const size_t got = read_some(buffer, sizeof buffer);
    if (got == 0) return {};
    head.append(buffer, got);
  }
  return head;
}

size_t Connection::read_answer() {
  constexpr const char* kLength = "Content-Length: ";
  static thread_local std::vector<char> buffer(64 * 1024);
  std::string head;
  size_t end = std::string::npos;
  while (end == std::string::npos) {
    const size_t got = read_some(buffer.data(), buffer.size());
    if (got == 0) give_up("the connection ended before its answer");
    head.append(buffer.data(), got);
    end = head.find("\r\n\r\n");
  }
  const size_t length = std::strtoul(head.c_str() + head.find(kLength) + 16, nullptr, 10);
  const size_t whole = end + 4 + length;
  for (size_t read = head.size(); read < whole;) {
    const size_t got = read_some(buffer.data(), buffer.size());
    if (got == 0) give_up("the connection ended within its answer");
    read += got;
  }
  return whole;
}

void answer_all(Connection connection) {
  for (std::string head = connection.read_request(); !head.empty(); head = connection.read_request()) {
    const size_t size = std::strtoul(head.c_str() + 5, nullptr, 10);
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
                     std::string(size, 'x'));
  }
}

void write_certificate(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr || PEM_write_X509(file, SSL_CTX_get0_certificate(server_context())) != 1 ||
      std::fclose(file) != 0) {
    give_up("no certificate can be written to " + path);
  }
}

Listener::Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = address_of("127.0.0.1", 0);
  socklen_t size = sizeof address;
  if (::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd_, 1024) != 0 ||
      ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    give_up("no listener");
  }
  port_ = ntohs(address.sin_port);
}

int Listener::accept() const {
  const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) give_up("accept failed");
  return fd;
}

}  // namespace bj::load
