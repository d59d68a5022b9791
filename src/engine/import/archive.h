// A tar as a sequence of entries: plain or packed once with gzip, xz, bzip2 or zstd. Two stages of libarchive stand
// behind each other, the unpacking and the tar, so that the bytes between them can be counted and hashed. It stops with
// an error when the packed data unfolds beyond the limits, whatever the headers say.
//
// The only file that knows libarchive. Used by one thread; meant for the confined process of template_import.h.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "engine/import/import_digest.h"
#include "engine/import/import_entry.h"

struct archive;

namespace bj {

struct StreamDigests {
  std::string packed;  // SHA-256 of the file as it is
  std::string plain;   // of the tar in it
  uint64_t packed_bytes = 0;
  bool ends_with_mark = false;  // a tar ends with zeros; without them it was cut off between two entries
};

class TarReader {
  struct Key {};  // only create() has one

 public:
  // Reads `fd` from where it stands; the caller keeps it open. `label` names it in messages.
  static Result<std::unique_ptr<TarReader>> create(int fd, std::string label, const ImportLimits& limits);
  TarReader(Key, int fd, std::string label, const ImportLimits& limits);
  ~TarReader();
  TarReader(const TarReader&) = delete;
  TarReader& operator=(const TarReader&) = delete;

  // Nothing at the end.
  Result<std::optional<ImportEntry>> next();
  // The contents of the entry that next() returned last, at most once. What is not read is skipped.
  Result<void> read_data(const DataSink& sink);
  // Reads what is left behind the last entry, for the digests.
  Result<StreamDigests> finish();

  uint64_t count() const { return count_; }  // entries so far

 private:
  struct Freed {
    void operator()(archive* stage) const;
  };
  using Stage = std::unique_ptr<archive, Freed>;

  Result<void> open_stages();
  tl::unexpected<Error> damaged(archive* stage);
  Result<void> guard_ratio() const;
  long read_packed(const void** buffer);
  long read_plain(const void** buffer);
  static long packed_callback(archive*, void* self, const void** buffer);
  static long plain_callback(archive* stage, void* self, const void** buffer);

  int fd_;
  std::string label_;
  ImportLimits limits_;
  Stage unpack_, tar_;
  std::string buffer_;
  Sha256 packed_hash_, plain_hash_;
  uint64_t packed_bytes_ = 0, plain_bytes_ = 0, trailing_zeros_ = 0;
  uint64_t count_ = 0;
  std::string last_path_;
  std::optional<Error> failure_;  // of the unpacking stage, where the tar stage only sees "read error"
};

}  // namespace bj
