// Files packed into one blob by cmake/pack.py, as the build puts them into the binary: 64 characters of hash, then for
// each file u32 mode, u32 name size, u32 data size, name, data. Trusted: it is part of the program.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace bj {

class Pack {
 public:
  struct File {
    unsigned mode;
    std::string name;
    std::string_view data;
  };

  explicit Pack(std::string_view bytes) : hash_(bytes.substr(0, kHashSize)), left_(bytes.substr(kHashSize)) {}
  std::string_view hash() const { return hash_; }
  bool done() const { return left_.empty(); }

  File next() {
    uint32_t head[3];
    std::memcpy(head, left_.data(), sizeof head);
    left_.remove_prefix(sizeof head);
    File file{head[0], std::string(left_.substr(0, head[1])), left_.substr(head[1], head[2])};
    left_.remove_prefix(size_t{head[1]} + head[2]);
    return file;
  }

 private:
  static constexpr size_t kHashSize = 64;
  std::string_view hash_, left_;
};

}  // namespace bj
