// Images from registries, as roots on this machine: fetched (registry_session.h), then unpacked by a program of their
// own in a cell of its own (engine/import/template_import.h).
//
//   <directory>/<digest>/{rootfs,template.json}   an image, by its manifest's digest: whoever may fetch the manifest
//   shares it <directory>/.blobs/<digest>                   layers as they came, verified; the oldest go when they are
//   too many <directory>/.pull-XXXXXX/                     one that is being put together
//
// An image appears whole or not at all. Two pulls of one image at a time are one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/async.h"
#include "engine/import/import_report.h"
#include "images/registry_session.h"

namespace bj {

struct PullOptions {
  std::string directory;  // <data>/images
  RegistryAccess access;
  std::string program = "/proc/self/exe";  // of which `unpack-image DIRECTORY NAME SOURCE` unpacks
  uint64_t kept_blob_bytes = 4ull << 30;
};

// As long as it is held, an image is not removed: until a row of the store refers to it.
using ImageHold = std::shared_ptr<const void>;

struct PulledImage {
  std::string digest;    // names it in the directory
  bool fetched = false;  // false: it was there
  ImageHold hold;
};

// A line for people: "layer 2 of 5: 12 MiB".
using PullProgress = std::function<void(const std::string& line)>;

// Stays on its executor's thread; blocking work has threads of its own.
class ImagePuller {
 public:
  // The client must outlive it.
  ImagePuller(HttpClient& client, PullOptions options);
  ~ImagePuller();

  Task<Result<PulledImage>> pull(std::string reference, RegistryLogin login, PullProgress progress);
  // Removes the images that `used` does not name and that nobody holds; yields their digests. `used` blocks.
  Task<Result<std::vector<std::string>>> prune(std::function<Result<std::set<std::string>>()> used);
  const PullOptions& options() const { return options_; }

 private:
  struct Running;
  ImageHold hold(const std::string& digest);
  Task<Result<void>> fetch(RegistrySession& session, FetchedManifest manifest, PullProgress progress);
  Task<Result<void>> fetch_blob(RegistrySession& session, BlobDescriptor blob, std::string staging,
                                std::function<void(uint64_t)> progress);

  HttpClient& client_;
  PullOptions options_;
  asio::thread_pool threads_{2};
  std::map<std::string, std::shared_ptr<Running>> running_;  // by digest
  std::map<std::string, std::weak_ptr<const void>> held_;    // by digest
  std::set<std::string> asked_for_;  // since a prune began: what `used` yields then may be older
};

// The other side of PullOptions::program: imports and tells about it on stdout, a message a line. The process must have
// no threads. Yields its exit status.
int unpack_image(const std::string& directory, const std::string& name, const std::string& source);

}  // namespace bj
