#include "api/file_transfer.h"

#include <fmt/format.h>

#include "api/file_range.h"
#include "server/dispatcher.h"

namespace bj {
namespace {

constexpr size_t kPiece = 1 << 20;

using Opened = SandboxFiles::Opened;

// In turn, so that a client holds one piece of memory, however slowly it reads.
Task<void> send_file(FilesInUse place, Opened opened, ByteRange range, BodyWriter& body) {
  uint64_t at = range.first;
  uint64_t left = range.length;
  while (left > 0) {
    const size_t most = static_cast<size_t>(std::min<uint64_t>(left, kPiece));
    Result<std::string> piece = co_await place.files->read(opened, at, most);
    if (!piece || piece->empty()) co_return;  // it shrank: the client sees that bytes are missing
    at += piece->size();
    left -= piece->size();
    if (!co_await body.write(std::move(*piece))) co_return;
  }
}

}  // namespace

Error from_inside(Error error) {
  if (error.code == Code::kInternal && error.sys == EEXIST) error.code = Code::kConflict;
  if (error.code == Code::kInternal && error.sys != 0) error.code = Code::kInvalid;
  return error;
}

HttpResponse file_response(const HttpRequest& request, FilesInUse place, Opened opened) {
  const uint64_t size = opened.info.size;
  HttpResponse response = text_response(200, "application/octet-stream", "");
  response.headers.add("Accept-Ranges", "bytes");
  response.headers.add("Content-Disposition", "attachment");  // no browser shows it as a page of ours
  ByteRange range{0, size};
  const std::string_view asked = request.headers.get("Range");
  if (!asked.empty()) {
    const std::optional<ByteRange> part = range_of(asked, size);
    if (!part) {
      response = error_response(416, "the file has no such range");
      response.headers.add("Content-Range", fmt::format("bytes */{}", size));
      return response;
    }
    range = *part;
    if (range.length != size) {
      response.status = 206;
      response.headers.add("Content-Range",
                           fmt::format("bytes {}-{}/{}", range.first, range.first + range.length - 1, size));
    }
  }
  response.stream_bytes = range.length;
  response.stream = [place = std::move(place), opened = std::move(opened), range](BodyWriter& body) {
    return send_file(place, opened, range, body);
  };
  return response;
}

Task<tl::expected<uint64_t, HttpResponse>> receive_file(HttpRequest& request, SandboxFiles& files,
                                                        const Opened& opened) {
  uint64_t written = 0;
  std::string waiting;
  waiting.reserve(2 * kPiece);
  for (bool more = true; more;) {
    Result<std::string> piece = co_await request.body_stream->read();
    if (!piece) co_return tl::unexpected(body_failure(piece.error()));
    more = !piece->empty();
    waiting += *piece;
    if (waiting.empty() || (more && waiting.size() < kPiece)) continue;
    written += waiting.size();
    const Result<void> kept = co_await files.write(opened, waiting);
    waiting.clear();
    if (!kept && kept.error().sys == ENOSPC)
      co_return tl::unexpected(error_response(507, "the sandbox's disk is full: what came before that was written"));
    if (!kept) co_return tl::unexpected(error_response(from_inside(kept.error())));
  }
  co_return written;
}

}  // namespace bj
