#include "api/gzip.h"

#include <zlib.h>

namespace bj {
namespace {

constexpr size_t kPiece = 256 * 1024;
constexpr int kGzip = 16;  // added to the window's bits: gzip's head and tail instead of zlib's

Bytef* bytes_of(std::string_view text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }

}  // namespace

struct GzipWriter::Stream {
  z_stream z{};
};

GzipWriter::GzipWriter() : stream_(std::make_unique<Stream>()) {
  ::deflateInit2(&stream_->z, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY);
}
GzipWriter::~GzipWriter() { ::deflateEnd(&stream_->z); }

std::string GzipWriter::run(std::string_view bytes, int flush) {
  z_stream& z = stream_->z;
  z.next_in = bytes_of(bytes);
  z.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int status = Z_OK;
  do {
    const size_t before = out.size();
    out.resize(before + kPiece);
    z.next_out = bytes_of(out) + before;
    z.avail_out = kPiece;
    status = ::deflate(&z, flush);
    out.resize(out.size() - z.avail_out);
  } while (z.avail_out == 0 && status == Z_OK);
  return out;
}

std::string GzipWriter::add(std::string_view bytes) { return run(bytes, Z_NO_FLUSH); }
std::string GzipWriter::finish() { return run({}, Z_FINISH); }

struct GzipReader::Stream {
  z_stream z{};
  std::string input;
  bool over = false;
};

GzipReader::GzipReader() : stream_(std::make_unique<Stream>()) { ::inflateInit2(&stream_->z, MAX_WBITS + kGzip); }
GzipReader::~GzipReader() { ::inflateEnd(&stream_->z); }

void GzipReader::feed(std::string bytes) {
  stream_->input = std::move(bytes);
  stream_->z.next_in = bytes_of(stream_->input);
  stream_->z.avail_in = static_cast<uInt>(stream_->input.size());
}

Result<std::string> GzipReader::take() {
  z_stream& z = stream_->z;
  std::string out;
  if (stream_->over) {
    if (z.avail_in != 0) return fail(Code::kInvalid, "something follows the end of the gzip stream");
    return out;
  }
  out.resize(kPiece);
  z.next_out = bytes_of(out);
  z.avail_out = kPiece;
  const int status = ::inflate(&z, Z_NO_FLUSH);
  if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
    return fail(Code::kInvalid, "the body is not gzip");
  stream_->over = status == Z_STREAM_END;
  out.resize(kPiece - z.avail_out);
  return out;
}

bool GzipReader::is_over() const { return stream_->over; }

}  // namespace bj
