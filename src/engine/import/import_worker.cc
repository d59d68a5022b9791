#include "engine/import/import_worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/import/archive.h"
#include "engine/import/import_scratch.h"
#include "engine/import/import_tree.h"
#include "engine/import/oci_image.h"
#include "engine/templates/template.h"
#include "sys/files.h"

namespace bj {
namespace {

class Worker {
 public:
  Worker(const ImportWork& work, TreeWriter writer)
      : work_(work), limits_(work.cell.limits), writer_(std::move(writer)) {}

  Result<ImportReport> run() {
    BJ_CHECK(work_.cell.source_is_directory ? import_directory() : import_file());
    const TreeCounts& counts = writer_.counts();
    report_.entries = counts.entries;
    report_.bytes = counts.bytes;
    report_.special_files = counts.special_files;
    report_.set_id_bits = counts.set_id_bits;
    report_.attributes = counts.attributes;
    report_.owners = counts.owners;
    return report_;
  }

 private:
  void tell() { work_.progress({writer_.counts().entries, writer_.counts().bytes, layer_, report_.layers}); }

  // A writer's message continues "entry 12 (usr/x) of image.tar ".
  tl::unexpected<Error> refused(const std::string& entry, const Error& error) const {
    const char* advice = "pack it again without such entries";
    if (error.sys != 0) advice = "try again when that is mended";
    if (error.sys == ENOSPC || error.sys == EDQUOT) advice = "free some space first";
    if (error.sys == 0 && error.code == Code::kExhausted) advice = "use a smaller image, or raise the limit";
    return fail(error.code, fmt::format("{} {}: {} is not imported; {}", entry, error.what, work_.label, advice),
                error.sys);
  }

  tl::unexpected<Error> refused(const Error& error) const {
    return fail(error.code, work_.label + " is not imported: " + error.what, error.sys);
  }

  Result<void> unpack(TarReader& reader, const std::string& label) {
    for (;;) {
      BJ_TRY(const std::optional<ImportEntry> entry, reader.next());
      if (!entry) return {};
      std::optional<Error> damage;  // names its place itself
      const Result<void> added = writer_.add(*entry, [&](const DataSink& sink) -> Result<void> {
        std::optional<Error> sink_failed;
        Result<void> read = reader.read_data([&](uint64_t offset, std::string_view data) -> Result<void> {
          tell();
          Result<void> written = sink(offset, data);
          if (!written) sink_failed = written.error();
          return written;
        });
        if (!read && !sink_failed) damage = read.error();
        return read;
      });
      if (damage) return tl::unexpected(*damage);
      if (!added)
        return refused(fmt::format("entry {} ({}) of {}", reader.count(), printable(entry->path), label),
                       added.error());
      tell();
    }
  }

  Result<void> import_directory() {
    const DirectoryBlobs blobs(work_.cell.source, limits_);
    if (blobs.open("oci-layout") && blobs.open("index.json"))
      return import_image("oci-layout", blobs, read_oci_image(blobs, limits_));
    report_.kind = "directory";
    BJ_TRY(const auto entries, list_directory(work_.cell.source));
    if (!is_root(entries)) return not_a_root();
    writer_.begin_layer(Whiteouts::kPlainFiles);
    const Result<void> copied = copy_directory(work_.cell.source, writer_, work_.excluded, [this] { tell(); });
    if (copied) return {};
    return fail(copied.error().code,
                copied.error().what + ": " + work_.label +
                    " is not imported; make the directory readable and "
                    "within the limits, then try again",
                copied.error().sys);
  }

  Result<void> import_file() {
    std::optional<ScratchBlobs> blobs;
    {
      BJ_TRY(const std::unique_ptr<TarReader> reader, TarReader::create(work_.cell.source, work_.label, limits_));
      BJ_TRY(blobs, ScratchBlobs::collect(*reader, work_.cell.scratch, limits_,
                                          [this](uint64_t bytes) { work_.progress({0, bytes, 0, 0}); }));
      if (blobs) BJ_CHECK(check_end(*reader));
    }
    if (!blobs) {
      BJ_CHECK(clear_scratch());
      return import_tar();
    }
    if (blobs->contains("oci-layout") && blobs->contains("index.json")) {
      return import_image("oci-archive", *blobs, read_oci_image(*blobs, limits_));
    }
    if (blobs->contains("manifest.json"))
      return import_image("docker-archive", *blobs, read_docker_image(*blobs, limits_));
    return not_a_root();
  }

  Result<void> clear_scratch() const {
    BJ_TRY(const auto entries, list_directory(work_.cell.scratch));
    for (const Entry& entry : entries) BJ_CHECK(remove_tree(work_.cell.scratch, entry.name));
    return {};
  }

  static bool is_root(const std::vector<Entry>& entries) {
    return std::any_of(entries.begin(), entries.end(),
                       [](const Entry& entry) { return is_root_directory_name(entry.name); });
  }

  Result<void> not_a_root() const {
    return fail(
        Code::kInvalid,
        work_.label +
            " holds neither a root filesystem (no bin, etc, usr or the like at its top) nor an image (no "
            "manifest.json, no index.json): pack the root directory itself (tar -C ROOT -cf FILE .), or use docker save");
  }

  Result<void> check_end(TarReader& reader) const {
    BJ_TRY(const StreamDigests digests, reader.finish());
    if (digests.ends_with_mark) return {};
    return fail(Code::kInvalid,
                fmt::format("{} is damaged after entry {}: it was cut off there; export the image again", work_.label,
                            reader.count()));
  }

  Result<void> import_tar() {
    report_.kind = "tar";
    if (::lseek(work_.cell.source, 0, SEEK_SET) != 0) return fail_errno("lseek(" + work_.label + ")");
    BJ_TRY(const std::unique_ptr<TarReader> reader, TarReader::create(work_.cell.source, work_.label, limits_));
    writer_.begin_layer(Whiteouts::kPlainFiles);
    BJ_CHECK(unpack(*reader, work_.label));
    BJ_CHECK(check_end(*reader));
    BJ_TRY(const auto entries, list_directory(work_.cell.rootfs));
    return is_root(entries) ? Result<void>() : not_a_root();
  }

  Result<void> import_image(const char* kind, const BlobSource& blobs, const Result<Image>& image) {
    if (!image) return refused(image.error());
    report_.kind = kind;
    report_.layers = image->layers.size();
    report_.settings = image->settings;
    report_.notes = image->settings.notes;
    for (const ImageLayer& layer : image->layers) {
      ++layer_;
      const Result<Fd> file = blobs.open(layer.name);
      if (!file) return refused(file.error());
      BJ_CHECK(import_layer(layer, *file));
    }
    return {};
  }

  Result<void> import_layer(const ImageLayer& layer, const Fd& file) {
    const std::string label = fmt::format("layer {} of {}", layer_, work_.label);
    BJ_TRY(const std::unique_ptr<TarReader> reader, TarReader::create(file.get(), label, limits_));
    writer_.begin_layer(Whiteouts::kApplied);
    BJ_CHECK(unpack(*reader, label));
    BJ_TRY(const StreamDigests digests, reader->finish());
    const Result<void> verified = verify_layer(layer, digests);
    return verified ? Result<void>() : refused(verified.error());
  }

  const ImportWork& work_;
  ImportLimits limits_;
  TreeWriter writer_;
  ImportReport report_;
  uint64_t layer_ = 0;
};

}  // namespace

Result<ImportReport> unpack_source(const ImportWork& work) {
  BJ_TRY(Fd root, open_at(work.cell.rootfs, ".", O_PATH | O_DIRECTORY));
  const Owners owners = ::geteuid() == 0 ? Owners::kKept : Owners::kCallers;
  BJ_TRY(ImportReport report, Worker(work, TreeWriter(std::move(root), work.cell.limits, owners)).run());
  if (const Result<void> completed = complete_root("rootfs"); !completed) {
    return fail(Code::kInvalid, work.label + " is not imported: " + completed.error().what, completed.error().sys);
  }
  return report;
}

}  // namespace bj
