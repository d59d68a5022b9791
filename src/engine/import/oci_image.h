// Reads what an image says about itself: which layers, in which order, with which digests, and its settings. Knows the
// OCI layout (oci-layout, index.json, blobs/sha256/...) and docker-archive (manifest.json). Pure but for the blobs it
// opens through BlobSource, by name; a name never leads out of the image. JSON blobs are checked against their digest
// here, layers while they are unpacked (verify_layer()).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "engine/import/archive.h"
#include "engine/import/import_entry.h"
#include "engine/import/import_report.h"

namespace bj {

// The files of an image by their name in it.
class BlobSource {
 public:
  virtual ~BlobSource() = default;
  virtual Result<Fd> open(const std::string& name) const = 0;
};

// An image in a directory. No symlink is followed.
class DirectoryBlobs : public BlobSource {
 public:
  DirectoryBlobs(int directory, const ImportLimits& limits) : directory_(directory), limits_(limits) {}
  Result<Fd> open(const std::string& name) const override;

 private:
  int directory_;  // borrowed
  ImportLimits limits_;
};

struct ImageLayer {
  std::string name;     // for BlobSource
  std::string digest;   // of the blob, 64 hex digits; empty if the format has none
  uint64_t size = 0;    // with the digest
  std::string diff_id;  // of the tar in it, 64 hex digits
};

struct Image {
  std::vector<ImageLayer> layers;  // lowest first
  ImageSettings settings;
};

// Several manifests: the one for linux/amd64. Attestations are passed over. Unknown media types are refused.
Result<Image> read_oci_image(const BlobSource& blobs, const ImportLimits& limits);
Result<Image> read_docker_image(const BlobSource& blobs, const ImportLimits& limits);

// For who fetches an image piece by piece: what a manifest's text refers to. All of it is bounded and checked.
struct BlobDescriptor {
  std::string media_type;
  std::string digest;  // hex digits
  uint64_t size = 0;
};
bool is_image_index(const std::string& media_type);
bool is_image_manifest(const std::string& media_type);
// Of an index: the manifest for linux/amd64.
Result<BlobDescriptor> chosen_manifest(const std::string& index, const ImportLimits& limits);
// Of a manifest: its config, then its layers.
Result<std::vector<BlobDescriptor>> blobs_of_manifest(const std::string& manifest, const ImportLimits& limits);

// Compares what was read of a layer with what the image said.
Result<void> verify_layer(const ImageLayer& layer, const StreamDigests& digests);

}  // namespace bj
