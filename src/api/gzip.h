// gzip, piece by piece in constant memory. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bj {

class GzipWriter {
 public:
  GzipWriter();
  ~GzipWriter();
  // What comes out for `bytes`; may be empty until finish().
  std::string add(std::string_view bytes);
  std::string finish();

 private:
  std::string run(std::string_view bytes, int flush);
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

class GzipReader {
 public:
  GzipReader();
  ~GzipReader();
  // Calls for what is in `bytes` in pieces: feed() once, then take() until it gives nothing. kInvalid: it is no gzip.
  void feed(std::string bytes);
  Result<std::string> take();
  bool is_over() const;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace bj
