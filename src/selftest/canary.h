// Files on the host with a secret in them, which attacks look for and try to change.
#pragma once

#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace bj::selftest {

inline constexpr const char* kCanaryPath = "/var/tmp/belljar-attack-canary";
inline constexpr const char* kRootOnlyPath = "/usr/local/share/belljar-attack-canary";
inline constexpr const char* kEvilPath = "/var/tmp/belljar-attack-evil";  // what an attack would make on the host
inline constexpr const char* kCanarySecret =
    "belljar canary 8d1f6a52c07e4b39, nothing inside a sandbox may read this\n";

// A file with the secret that only its owner may read. Several runs may go on at once: all share the file, the last one
// removes it.
class Canary {
 public:
  static Result<Canary> place(const char* path);
  Canary(Canary&&) = default;
  ~Canary();

  // What is wrong with it; empty: nothing.
  std::string harm() const;

 private:
  Canary(const char* path, Fd lock) : path_(path), lock_(std::move(lock)) {}
  const char* path_;
  Fd lock_;
};

}  // namespace bj::selftest
