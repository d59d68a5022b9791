// The owner of one file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace bj {

// Closing the descriptor is the only clean-up it does. Move-only; empty == -1.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    const Fd old(std::move(*this));
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset() { const Fd old(std::move(*this)); }

 private:
  int fd_ = -1;
};

}  // namespace bj
