// The small internet that attacks on the network run in: servers and this machine in network namespaces of their own
// (tests/e2e/network_world.py, which travels inside the binary). Nothing of the host's network is touched or reached.
//
// Start it and enter it before the process has threads. The servers end with the object, or with the process.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/fd.h"
#include "sys/program.h"

namespace bj::selftest {

class AttackWorld {
 public:
  // Needs root, python3, ip and openssl; without them a failure that says so.
  static Result<AttackWorld> start();
  AttackWorld(AttackWorld&& other) noexcept
      : scratch_(std::exchange(other.scratch_, {})),
        servers_(std::exchange(other.servers_, std::nullopt)),
        alive_(std::move(other.alive_)),
        network_(std::move(other.network_)),
        mounts_(std::move(other.mounts_)) {}
  ~AttackWorld();

  // The calling process becomes part of the machine in this world: its network, its hosts file, its name server.
  Result<void> enter() const;

 private:
  AttackWorld() = default;
  Result<void> write_programs();
  Result<void> run();

  std::string scratch_;
  std::optional<Program> servers_;
  Fd alive_;  // the world stays as long as this is open
  Fd network_, mounts_;
};

}  // namespace bj::selftest
