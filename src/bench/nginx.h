// The distribution's nginx as a server of files, for comparison: it takes and gives them below a directory in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "sys/program.h"

namespace bj {

class Nginx {
 public:
  // Blocks until it listens. kUnavailable: there is none, or it can't do WebDAV.
  static Result<Nginx> start();
  Nginx(Nginx&& other) noexcept;
  Nginx& operator=(Nginx&&) = delete;
  ~Nginx();

  uint16_t port() const { return port_; }

 private:
  Nginx(std::string directory, uint16_t port) : directory_(std::move(directory)), port_(port) {}

  std::optional<Program> program_;
  std::string directory_;
  uint16_t port_;
};

}  // namespace bj
