#include "engine/import/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sys/bytes.h"

namespace bj {
namespace {

constexpr size_t kBlock = 256u << 10;
constexpr int kOneFilter = 2;  // libarchive counts the bare file as one

EntryType type_of(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) return EntryType::kHardLink;
  switch (archive_entry_filetype(entry)) {
    case S_IFREG: return EntryType::kFile;
    case S_IFDIR: return EntryType::kDirectory;
    case S_IFLNK: return EntryType::kSymlink;
    default: return EntryType::kSpecial;
  }
}

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

ImportEntry convert(archive_entry* from) {
  ImportEntry entry;
  entry.path = text_or_empty(archive_entry_pathname(from));
  entry.type = type_of(from);
  if (entry.type == EntryType::kHardLink) entry.target = text_or_empty(archive_entry_hardlink(from));
  if (entry.type == EntryType::kSymlink) entry.target = text_or_empty(archive_entry_symlink(from));
  if (entry.type == EntryType::kFile) entry.size = static_cast<uint64_t>(archive_entry_size(from));
  entry.mode = archive_entry_perm(from);
  entry.uid = archive_entry_uid(from);
  entry.gid = archive_entry_gid(from);
  entry.modified_seconds = archive_entry_mtime(from);
  entry.attributes = static_cast<size_t>(std::max(0, archive_entry_xattr_count(from)));
  return entry;
}

}  // namespace

void TarReader::Freed::operator()(archive* stage) const { archive_read_free(stage); }

TarReader::TarReader(Key, int fd, std::string label, const ImportLimits& limits)
    : fd_(fd), label_(std::move(label)), limits_(limits), buffer_(kBlock, '\0') {}

TarReader::~TarReader() = default;

Result<std::unique_ptr<TarReader>> TarReader::create(int fd, std::string label, const ImportLimits& limits) {
  auto reader = std::make_unique<TarReader>(Key{}, fd, std::move(label), limits);
  BJ_CHECK(reader->open_stages());
  return reader;
}

Result<void> TarReader::open_stages() {
  unpack_.reset(archive_read_new());
  tar_.reset(archive_read_new());
  if (!unpack_ || !tar_) return fail(Code::kExhausted, "archive_read_new: out of memory");
  archive_read_support_filter_gzip(unpack_.get());
  archive_read_support_filter_xz(unpack_.get());
  archive_read_support_filter_bzip2(unpack_.get());
  archive_read_support_filter_zstd(unpack_.get());
  archive_read_support_format_raw(unpack_.get());
  archive_read_support_format_empty(unpack_.get());
  archive_read_support_format_tar(tar_.get());
  archive_entry* whole = nullptr;
  if (archive_read_open(unpack_.get(), this, nullptr, packed_callback, nullptr) != ARCHIVE_OK)
    return damaged(unpack_.get());
  const int header = archive_read_next_header(unpack_.get(), &whole);
  if (header == ARCHIVE_EOF) return fail(Code::kInvalid, label_ + " is empty: export the image again");
  if (header != ARCHIVE_OK) return damaged(unpack_.get());
  if (archive_filter_count(unpack_.get()) > kOneFilter) {
    return fail(Code::kInvalid, label_ + " is packed more than once: unpack it to one layer of compression first");
  }
  if (archive_read_open(tar_.get(), this, nullptr, plain_callback, nullptr) != ARCHIVE_OK) return damaged(tar_.get());
  return {};
}

tl::unexpected<Error> TarReader::damaged(archive* stage) {
  if (failure_) return tl::unexpected(*failure_);
  const std::string said = printable(text_or_empty(archive_error_string(stage)));
  const std::string why = said.empty() ? "what follows is no tar entry" : said;
  if (count_ == 0) {
    return fail(Code::kInvalid,
                fmt::format("{} is not a tar, a docker-archive or an OCI archive, or its beginning is damaged ({}): "
                            "export the image again",
                            label_, why));
  }
  return fail(Code::kInvalid, fmt::format("{} is damaged after entry {} ({}): {}; export the image again", label_,
                                          count_, printable(last_path_), why));
}

Result<std::optional<ImportEntry>> TarReader::next() {
  archive_entry* raw = nullptr;
  const int status = archive_read_next_header(tar_.get(), &raw);
  if (status == ARCHIVE_EOF) return std::nullopt;
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return damaged(tar_.get());
  ++count_;
  if (archive_entry_size_is_set(raw) && archive_entry_size(raw) < 0) {
    return fail(Code::kInvalid,
                fmt::format("{} is damaged: entry {} has a size below zero; export the image again", label_, count_));
  }
  ImportEntry entry = convert(raw);
  if (entry.path.empty()) {
    return fail(Code::kInvalid,
                fmt::format("entry {} of {} has no readable name: export the image again", count_, label_));
  }
  last_path_ = entry.path;
  return entry;
}

Result<void> TarReader::read_data(const DataSink& sink) {
  for (;;) {
    const void* data = nullptr;
    size_t size = 0;
    la_int64_t offset = 0;
    const int status = archive_read_data_block(tar_.get(), &data, &size, &offset);
    if (status == ARCHIVE_EOF) return {};
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return damaged(tar_.get());
    if (offset < 0) return damaged(tar_.get());
    if (size > 0) BJ_CHECK(sink(static_cast<uint64_t>(offset), {static_cast<const char*>(data), size}));
  }
}

Result<StreamDigests> TarReader::finish() {
  const void* ignored = nullptr;
  long n = 0;
  while ((n = read_plain(&ignored)) > 0) {
  }
  while (n == 0 && (n = read_packed(&ignored)) > 0) n = 0;  // what follows the packed data
  if (n < 0) return damaged(unpack_.get());
  StreamDigests digests{packed_hash_.hex(), plain_hash_.hex(), packed_bytes_, trailing_zeros_ >= 512};
  return digests;
}

Result<void> TarReader::guard_ratio() const {
  const uint64_t most = limits_.max_total_bytes + limits_.max_entries * 4096;
  if (plain_bytes_ > most) {
    return fail(Code::kExhausted,
                fmt::format("{} unpacks to more than {} bytes: use a smaller image, or raise the limit", label_, most));
  }
  if (plain_bytes_ > kRatioGraceBytes && plain_bytes_ / limits_.max_ratio > packed_bytes_) {
    return fail(Code::kExhausted,
                fmt::format("{} unpacks to over {} times its size, as only decompression bombs do: it is not imported; "
                            "if it is genuine, import it unpacked",
                            label_, limits_.max_ratio));
  }
  return {};
}

long TarReader::read_packed(const void** buffer) {
  const Moved read = read_some(fd_, buffer_.data(), buffer_.size());
  if (!read.ok()) {
    failure_ = fail_with(read.sys, "read(" + label_ + ")").value();
    return -1;
  }
  packed_bytes_ += read.size;
  packed_hash_.update({buffer_.data(), read.size});
  *buffer = buffer_.data();
  return static_cast<long>(read.size);
}

long TarReader::read_plain(const void** buffer) {
  size_t size = 0;
  la_int64_t offset = 0;
  int status = ARCHIVE_OK;
  do {
    status = archive_read_data_block(unpack_.get(), buffer, &size, &offset);
  } while (status == ARCHIVE_OK && size == 0);
  if (status == ARCHIVE_EOF) return 0;
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
    failure_ = damaged(unpack_.get()).value();
    return -1;
  }
  const std::string_view data(static_cast<const char*>(*buffer), size);
  plain_bytes_ += size;
  plain_hash_.update(data);
  const size_t last = data.find_last_not_of('\0');
  trailing_zeros_ = last == std::string_view::npos ? trailing_zeros_ + size : size - last - 1;
  if (const Result<void> fits = guard_ratio(); !fits) {
    failure_ = fits.error();
    return -1;
  }
  return static_cast<long>(size);
}

long TarReader::packed_callback(archive*, void* self, const void** buffer) {
  return static_cast<TarReader*>(self)->read_packed(buffer);
}

long TarReader::plain_callback(archive* stage, void* self, const void** buffer) {
  const long n = static_cast<TarReader*>(self)->read_plain(buffer);
  if (n < 0) archive_set_error(stage, EIO, "unpacking failed");
  return n;
}

}  // namespace bj
