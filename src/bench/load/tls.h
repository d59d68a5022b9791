// Blocking HTTPS connections for the load program: a self-signed server, clients that check nothing. Failures throw.
#pragma once

#include <netinet/in.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace bj::load {

sockaddr_in address_of(const std::string& text, uint16_t port);

class Connection {
 public:
  static Connection open(const std::string& address, uint16_t port, const std::string& name);
  static Connection accepted(int fd);  // takes it over
  Connection(Connection&& other) noexcept;
  ~Connection();

  void write(const std::string& text);
  // Reads one answer; its size in bytes.
  size_t read_answer();
  // The next request's head; empty at the end.
  std::string read_request();

 private:
  Connection(int fd, SSL_CTX* context);
  size_t read_some(char* into, size_t size);

  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  int fd_ = -1;
  std::unique_ptr<SSL, Free> ssl_;
};

// GET /SIZE: as many bytes, again and again.
void answer_all(Connection connection);

// What answer_all() shows, for those who check it.
void write_certificate(const std::string& path);

// Of this machine's loopback, on a free port.
class Listener {
 public:
  Listener();
  uint16_t port() const { return port_; }
  int accept() const;

 private:
  int fd_;
  uint16_t port_ = 0;
};

}  // namespace bj::load
