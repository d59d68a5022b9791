// An image archive, laid out so that its files can be read in any order: each becomes a numbered file in a scratch
// directory, and a table holds the names. No name of the archive ever becomes a path.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "engine/import/archive.h"
#include "engine/import/oci_image.h"

namespace bj {

class ScratchBlobs : public BlobSource {
 public:
  // `scratch` is borrowed and must outlive this. Nothing is returned, and reading stops, once the archive can only be a
  // root filesystem: at the first entry with the name of a root directory, or one deeper than images have. An archive
  // with more files than images have, and none of those, comes back empty.
  static Result<std::optional<ScratchBlobs>> collect(TarReader& reader, int scratch, const ImportLimits& limits,
                                                     const std::function<void(uint64_t bytes)>& progress);

  bool contains(const std::string& name) const { return files_.contains(name) || links_.contains(name); }
  // Follows links between entries of the archive by name, as old versions of docker save make them.
  Result<Fd> open(const std::string& name) const override;

 private:
  explicit ScratchBlobs(int scratch) : scratch_(scratch) {}
  Result<void> add(TarReader& reader, const ImportEntry& entry, const std::string& name, const ImportLimits& limits);

  int scratch_;
  uint64_t bytes_ = 0;
  std::map<std::string, uint64_t> files_;     // name -> number
  std::map<std::string, std::string> links_;  // name -> name
};

}  // namespace bj
