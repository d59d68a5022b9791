#include "engine/output_buffer.h"

#include <algorithm>

namespace bj {
namespace {

constexpr size_t kPieceBytes =
    32 * 1024;  // small ones are put together up to this, so that a flood of lines stays small

}  // namespace

void OutputBuffer::add(OutputStream stream, std::string_view bytes, uint64_t needed) {
  if (bytes.empty()) return;
  const bool joins =
      !pieces_.empty() && pieces_.back().stream == stream && pieces_.back().bytes.size() + bytes.size() <= kPieceBytes;
  if (joins) {
    pieces_.back().bytes.append(bytes);
  } else {
    pieces_.push_back({stream, end_, std::string(bytes)});
  }
  end_ += bytes.size();
  while (!pieces_.empty() && end_ - pieces_.front().offset > capacity_) {
    const uint64_t after = pieces_.front().offset + pieces_.front().bytes.size();
    if (after > needed) break;
    pieces_.pop_front();
  }
}

std::optional<OutputPiece> OutputBuffer::next(uint64_t offset, size_t most) const {
  const auto after = [](uint64_t place, const OutputPiece& piece) { return place < piece.offset; };
  auto at = std::upper_bound(pieces_.begin(), pieces_.end(), offset, after);
  if (at != pieces_.begin()) {
    const OutputPiece& before = *std::prev(at);
    if (offset < before.offset + before.bytes.size()) at = std::prev(at);
  }
  if (at == pieces_.end()) return std::nullopt;
  const size_t skip = offset > at->offset ? static_cast<size_t>(offset - at->offset) : 0;
  return OutputPiece{at->stream, at->offset + skip, at->bytes.substr(skip, most)};
}

}  // namespace bj
