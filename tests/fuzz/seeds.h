// Seeds without files: a fuzzer's mutator starts from well-formed inputs of its own instead of from nothing. A mutation
// of a few bytes then reaches the decoder's depth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace bj::fuzz {

// Now and then (by `random`) replaces the input by a seed, then lets libFuzzer mutate it.
inline size_t mutate_from(const std::vector<std::string>& seeds, uint8_t* data, size_t size, size_t max_size,
                          unsigned random) {
  if (size < 2 || random % 64 == 0) {
    const std::string& seed = seeds[random / 64 % seeds.size()];
    size = seed.size() < max_size ? seed.size() : max_size;
    std::memcpy(data, seed.data(), size);
    if (random / 64 % 7 == 0) return size;
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

}  // namespace bj::fuzz
