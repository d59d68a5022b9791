// The last bytes that a process wrote, in the order they came, with their places in the whole. Whoever reads keeps the
// place he is at; what he comes too late for is gone, and he can see how much that is.
//
// It lies in a memory file, so that it can outlive the process that fills it: bytes first, then the place where they
// end. What was taken from a pipe but not yet counted when this process died is found again, see read_from().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sys/shared_memory.h"

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
  static Result<OutputBuffer> create(size_t capacity);
  // One that another process has filled.
  static Result<OutputBuffer> open(Fd file);

  // Drops the oldest beyond the capacity, but nothing at or after `needed`, which somebody still wants to read, as long
  // as there is room.
  void add(OutputStream stream, std::string_view bytes, uint64_t needed);
  void add(OutputStream stream, std::string_view bytes) { add(stream, bytes, end()); }

  enum class Taken { kBytes, kNothingNow, kEnd };
  // One read of a pipe or terminal that does not block, at most `most` bytes.
  Taken read_from(int fd, OutputStream stream, size_t most, uint64_t needed);

  uint64_t begin() const;
  uint64_t end() const;
  size_t capacity() const;
  // So many bytes at or after `needed` leave no room for more.
  bool is_full(uint64_t needed) const;

  // What comes next for a reader at `offset`, of one stream and at most `most` bytes. If its offset is greater than
  // asked for, the bytes between are gone. Nothing: he has read everything.
  std::optional<OutputPiece> next(uint64_t offset, size_t most) const;

  const Fd& file() const { return memory_.file(); }
  // Bytes of the same file for what its owner wants to outlive him, too; zeros at first.
  static constexpr size_t kMarginSize = 2048;
  char* margin() const;

 private:
  struct Head;
  struct Piece;

  explicit OutputBuffer(SharedMemory memory) : memory_(std::move(memory)) {}
  Head& head() const;
  Piece& piece(uint64_t number) const;
  size_t ring_size() const;
  char* place_of(uint64_t offset) const;
  void copy_in(uint64_t offset, std::string_view bytes) const;
  uint64_t end_of(uint64_t number) const;
  void publish(OutputStream stream, uint64_t size) const;
  void make_room(size_t coming) const;
  void drop_old(uint64_t needed) const;
  void drop_oldest() const;
  void take_up_pending() const;

  SharedMemory memory_;
};

}  // namespace bj
