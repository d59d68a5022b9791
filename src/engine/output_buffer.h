// The last bytes that a process wrote, in the order they came, with their places in the whole. Whoever reads keeps the
// place he is at; what he comes too late for is gone, and he can see how much that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace bj {

enum class OutputStream : uint8_t { kOutput, kError, kTerminal };

struct OutputPiece {
  OutputStream stream = OutputStream::kOutput;
  uint64_t offset = 0;  // of its first byte
  std::string bytes;
};

class OutputBuffer {
 public:
  // `capacity`: what is kept for late comers.
  explicit OutputBuffer(size_t capacity) : capacity_(capacity) {}

  // Drops the oldest beyond the capacity, but nothing at or after `needed`, which somebody still wants to read.
  void add(OutputStream stream, std::string_view bytes, uint64_t needed);
  void add(OutputStream stream, std::string_view bytes) { add(stream, bytes, end_); }

  uint64_t begin() const { return pieces_.empty() ? end_ : pieces_.front().offset; }
  uint64_t end() const { return end_; }
  size_t capacity() const { return capacity_; }

  // What comes next for a reader at `offset`, of one stream and at most `most` bytes. If its offset is greater than
  // asked for, the bytes between are gone. Nothing: he has read everything.
  std::optional<OutputPiece> next(uint64_t offset, size_t most) const;

 private:
  size_t capacity_;
  uint64_t end_ = 0;
  std::deque<OutputPiece> pieces_;
};

}  // namespace bj
