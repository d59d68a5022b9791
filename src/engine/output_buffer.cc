#include "engine/output_buffer.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "sys/bytes.h"

namespace bj {
namespace {

constexpr uint64_t kMagic = 0x31667562747574'6fu;
constexpr size_t kPage = 4096;
constexpr size_t kPieceBytes = 32 * 1024;  // small ones are one up to this, so that a flood of lines stays small
constexpr size_t kMostPieces = 8192;
constexpr size_t kGivenBack = 256 * 1024;  // memory goes back in such steps
// Beyond the capacity: what the two pipes of a process can hold when it ends, at most 1 MiB each.
constexpr size_t kSpare = (2u << 20) + 4 * kGivenBack;
constexpr size_t kMark = 16;

// The order in which another process would see our writes, if this one died between them.
void in_this_order() { std::atomic_signal_fence(std::memory_order_seq_cst); }

size_t up_to(size_t value, size_t step) { return (value + step - 1) / step * step; }

size_t pending_in(int fd) {
  int size = 0;
  return ::ioctl(fd, FIONREAD, &size) == 0 && size > 0 ? static_cast<size_t>(size) : 0;
}

}  // namespace

// The file: a page with this and the margin, the pieces (a ring of where each begins), the bytes (a ring).
struct OutputBuffer::Head {
  uint64_t magic;
  uint64_t capacity;
  uint64_t ring_size;
  uint64_t end;
  uint64_t first_piece, last_piece;  // numbers; last is one beyond
  uint64_t given_back;               // up to here memory was given back
  // A read that is under way: so many bytes are asked for, and where the first will be, this mark was put.
  uint64_t pending_bytes;
  OutputStream pending_stream;
  std::array<char, kMark> mark;
};

struct OutputBuffer::Piece {
  uint64_t offset;
  OutputStream stream;
};

namespace {
constexpr size_t kPiecesSize = kMostPieces * 16;
constexpr size_t kRingStart = kPage + kPiecesSize;
}  // namespace

Result<OutputBuffer> OutputBuffer::create(size_t capacity) {
  static_assert(sizeof(Piece) == 16 && sizeof(Head) + kMarginSize <= kPage);
  const size_t ring = up_to(capacity + kSpare, kGivenBack);
  BJ_TRY(SharedMemory memory, SharedMemory::create("output", kRingStart + ring));
  OutputBuffer buffer(std::move(memory));
  buffer.head().capacity = capacity;
  buffer.head().ring_size = ring;
  buffer.head().magic = kMagic;
  return buffer;
}

Result<OutputBuffer> OutputBuffer::open(Fd file) {
  BJ_TRY(SharedMemory memory, SharedMemory::open(std::move(file), kRingStart));
  OutputBuffer buffer(std::move(memory));
  const Head& head = buffer.head();
  if (head.magic != kMagic || head.ring_size != buffer.memory_.size() - kRingStart || head.ring_size == 0)
    return fail(Code::kInvalid, "a memory file that is not a process's output");
  buffer.take_up_pending();
  return buffer;
}

OutputBuffer::Head& OutputBuffer::head() const { return *reinterpret_cast<Head*>(memory_.data()); }

char* OutputBuffer::margin() const { return memory_.data() + kPage - kMarginSize; }

OutputBuffer::Piece& OutputBuffer::piece(uint64_t number) const {
  return reinterpret_cast<Piece*>(memory_.data() + kPage)[number % kMostPieces];
}

size_t OutputBuffer::ring_size() const { return head().ring_size; }
size_t OutputBuffer::capacity() const { return head().capacity; }
uint64_t OutputBuffer::end() const { return head().end; }
uint64_t OutputBuffer::begin() const {
  return head().first_piece == head().last_piece ? end() : piece(head().first_piece).offset;
}

char* OutputBuffer::place_of(uint64_t offset) const { return memory_.data() + kRingStart + offset % ring_size(); }

uint64_t OutputBuffer::end_of(uint64_t number) const {
  return number + 1 == head().last_piece ? end() : piece(number + 1).offset;
}

void OutputBuffer::copy_in(uint64_t offset, std::string_view bytes) const {
  const size_t until_wrap = std::min<size_t>(bytes.size(), ring_size() - offset % ring_size());
  std::memcpy(place_of(offset), bytes.data(), until_wrap);
  std::memcpy(place_of(offset + until_wrap), bytes.data() + until_wrap, bytes.size() - until_wrap);
}

// The bytes are there; now they count.
void OutputBuffer::publish(OutputStream stream, uint64_t size) const {
  Head& h = head();
  const bool joins = h.first_piece != h.last_piece && piece(h.last_piece - 1).stream == stream &&
                     h.end - piece(h.last_piece - 1).offset + size <= kPieceBytes;
  if (!joins) {
    piece(h.last_piece) = {h.end, stream};
    in_this_order();
    ++h.last_piece;
  }
  in_this_order();
  h.end += size;
  in_this_order();
  h.pending_bytes = 0;
}

void OutputBuffer::drop_oldest() const {
  Head& h = head();
  const uint64_t gone = end_of(h.first_piece);
  ++h.first_piece;
  while (gone - h.given_back >= 2 * kGivenBack) {  // one step behind, so that a small one stays in memory
    memory_.give_back(kRingStart + h.given_back % ring_size(), kGivenBack);
    h.given_back += kGivenBack;
  }
}

// Where there is none, even what is needed goes. The last steps before the oldest byte are being given back.
void OutputBuffer::make_room(size_t coming) const {
  const Head& h = head();
  while (h.first_piece != h.last_piece &&
         (h.end + coming - begin() > ring_size() - 4 * kGivenBack || h.last_piece - h.first_piece >= kMostPieces)) {
    drop_oldest();
  }
}

void OutputBuffer::drop_old(uint64_t needed) const {
  const Head& h = head();
  while (h.first_piece != h.last_piece && h.end - begin() > capacity() && end_of(h.first_piece) <= needed)
    drop_oldest();
}

bool OutputBuffer::is_full(uint64_t needed) const {
  const Head& h = head();
  return h.end - std::min(needed, h.end) >= capacity() ||
         (h.last_piece - h.first_piece >= kMostPieces - 1 && end_of(h.first_piece) > needed);
}

void OutputBuffer::add(OutputStream stream, std::string_view bytes, uint64_t needed) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kPieceBytes);
    make_room(part.size());
    copy_in(end(), part);
    publish(stream, part.size());
    drop_old(needed);
    bytes.remove_prefix(part.size());
  }
}

// A pipe gives all that it said it has, in one go. So a mark where the first byte will be tells, after our death,
// whether the read that was under way has happened. A terminal makes no such promise: what is read from it is counted
// at once.
OutputBuffer::Taken OutputBuffer::read_from(int fd, OutputStream stream, size_t most, uint64_t needed) {
  pollfd state{fd, POLLIN, 0};
  if (::poll(&state, 1, 0) <= 0) return Taken::kNothingNow;
  most = std::min(most, kPieceBytes);
  const size_t there = std::min(pending_in(fd), most);
  make_room(most);
  Head& h = head();
  if (stream != OutputStream::kTerminal && there > 0) {
    most = there;
    for (char& c : h.mark) c = static_cast<char>(c * 5 + 1 + static_cast<char>(h.end));
    copy_in(h.end, {h.mark.data(), std::min(there, kMark)});
    h.pending_stream = stream;
    in_this_order();
    h.pending_bytes = there;
    in_this_order();
  }
  const size_t until_wrap = std::min<size_t>(most, ring_size() - h.end % ring_size());
  const std::array<iovec, 2> parts{{{place_of(h.end), until_wrap}, {place_of(h.end + until_wrap), most - until_wrap}}};
  const Moved read = read_some(fd, std::span(parts).first(most > until_wrap ? 2 : 1));
  in_this_order();
  if (read.size > 0) {
    publish(stream, read.size);
    drop_old(needed);
    return Taken::kBytes;
  }
  h.pending_bytes = 0;
  return read.not_now() ? Taken::kNothingNow : Taken::kEnd;
}

void OutputBuffer::take_up_pending() const {
  Head& h = head();
  while (h.last_piece != h.first_piece && piece(h.last_piece - 1).offset >= h.end) --h.last_piece;  // of nothing yet
  if (h.pending_bytes == 0 || h.pending_bytes > kPieceBytes) return;
  const size_t marked = std::min<size_t>(h.pending_bytes, kMark);
  bool untouched = true;
  for (size_t i = 0; i < marked; ++i) untouched = untouched && *place_of(h.end + i) == h.mark[i];
  if (!untouched) publish(h.pending_stream, h.pending_bytes);
  h.pending_bytes = 0;
}

std::optional<OutputPiece> OutputBuffer::next(uint64_t offset, size_t most) const {
  const Head& h = head();
  uint64_t low = h.first_piece, high = h.last_piece;  // the first whose end is beyond the offset
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (end_of(middle) > offset) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low == h.last_piece) return std::nullopt;
  const uint64_t from = std::max(offset, piece(low).offset);
  OutputPiece found{piece(low).stream, from, std::string(std::min<uint64_t>(most, end_of(low) - from), '\0')};
  const size_t until_wrap = std::min<size_t>(found.bytes.size(), ring_size() - from % ring_size());
  std::memcpy(found.bytes.data(), place_of(from), until_wrap);
  std::memcpy(found.bytes.data() + until_wrap, place_of(from + until_wrap), found.bytes.size() - until_wrap);
  return found;
}

}  // namespace bj
