// Archives that COPY steps unpack: uploaded before a build, kept by organization and the hash that the client gave
// them. Nothing here ever looks inside one. An archive appears whole or not at all; the oldest go when an organization
// has too many.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

// 64 hex digits.
bool is_files_hash(std::string_view text);

// Blocks: on a worker. Any thread.
class TemplateFiles {
 public:
  explicit TemplateFiles(std::string directory, uint64_t most_bytes = 4ull << 30)
      : directory_(std::move(directory)), most_bytes_(most_bytes) {}

  // One that is being written; gone unless it was finished.
  class Upload {
   public:
    ~Upload();
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;
    // kExhausted: more than may be kept.
    Result<void> write(std::string_view piece);
    Result<void> finish();

   private:
    friend class TemplateFiles;
    Upload(const TemplateFiles& owner, std::string directory, std::string name, Fd file)
        : owner_(owner), directory_(std::move(directory)), name_(std::move(name)), file_(std::move(file)) {}
    const TemplateFiles& owner_;
    std::string directory_, name_, partial_;
    Fd file_;
    uint64_t size_ = 0;
  };

  bool has(const std::string& organization, const std::string& hash) const;
  Result<Fd> open(const std::string& organization, const std::string& hash) const;
  Result<std::unique_ptr<Upload>> upload(const std::string& organization, const std::string& hash) const;

 private:
  std::string directory_;
  uint64_t most_bytes_;  // of an organization
};

}  // namespace bj
