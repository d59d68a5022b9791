// Memory that outlives a process: a memory file, mapped. Whoever has its descriptor sees the same bytes.
#pragma once

#include <cstddef>
#include <utility>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

// One that grows as it is written, not mapped.
Result<Fd> new_memory_file(const char* name);

// Unmapping is its clean-up. Move-only. Pages that nobody touched take no memory.
class SharedMemory {
 public:
  static Result<SharedMemory> create(const char* name, size_t size);
  // kInvalid: it is no memory file, or smaller than `least`.
  static Result<SharedMemory> open(Fd file, size_t least);
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept { swap(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    SharedMemory old(std::move(*this));
    swap(other);
    return *this;
  }
  ~SharedMemory();

  char* data() const { return data_; }
  size_t size() const { return size_; }
  const Fd& file() const { return file_; }
  // The bytes there are not needed any more: they read as zeros and take no memory.
  void give_back(size_t offset, size_t size) const;

 private:
  static Result<SharedMemory> map(Fd file, size_t size);
  void swap(SharedMemory& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  Fd file_;
  char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace bj
