#include "engine/import/oci_image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "engine/import/import_digest.h"
#include "sys/files.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kJsonDepth = 32, kLongestText = 4096, kDigestDigits = 64;
constexpr unsigned kIndexDepth = 4;  // index.json, an index of platforms, ...
constexpr std::string_view kSha256 = "sha256:";

constexpr std::array kIndexTypes = {"application/vnd.oci.image.index.v1+json",
                                    "application/vnd.docker.distribution.manifest.list.v2+json"};
constexpr std::array kManifestTypes = {"application/vnd.oci.image.manifest.v1+json",
                                       "application/vnd.docker.distribution.manifest.v2+json"};
constexpr std::array kConfigTypes = {"application/vnd.oci.image.config.v1+json",
                                     "application/vnd.docker.container.image.v1+json"};
constexpr std::array kLayerTypes = {"application/vnd.oci.image.layer.v1.tar",
                                    "application/vnd.oci.image.layer.v1.tar+gzip",
                                    "application/vnd.oci.image.layer.v1.tar+zstd",
                                    "application/vnd.docker.image.rootfs.diff.tar",
                                    "application/vnd.docker.image.rootfs.diff.tar.gzip",
                                    "application/vnd.docker.image.rootfs.diff.tar.zstd"};

struct Descriptor : BlobDescriptor {
  std::string platform;  // "linux/amd64", or empty
  bool attestation = false;
};

template <class List>
bool one_of(const std::string& text, const List& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

tl::unexpected<Error> malformed(const std::string& what) {
  return fail(Code::kInvalid, "the image is malformed: " + what + "; export it again");
}

bool is_hex_digest(std::string_view text) {
  return text.size() == kDigestDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Result<std::string> parse_digest(const std::string& text) {
  if (text.starts_with(kSha256) && is_hex_digest(std::string_view(text).substr(kSha256.size())))
    return text.substr(kSha256.size());
  return malformed("\"" + printable(text, 100) + "\" is not a sha256 digest");
}

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  const json::string* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr && text->size() <= kLongestText ? std::string(*text) : std::string();
}

const json::object* object_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr ? value->if_object() : nullptr;
}

const json::array* array_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr ? value->if_array() : nullptr;
}

Result<std::string> read_blob(const BlobSource& blobs, const std::string& name, const ImportLimits& limits) {
  BJ_TRY(const Fd file, blobs.open(name));
  return read_all(file.get(), limits.max_json_bytes, "the image's " + printable(name));
}

Result<json::value> parse(const std::string& text, const std::string& name) {
  json::parse_options options;
  options.max_depth = kJsonDepth;
  boost::system::error_code failed;
  json::value value = json::parse(text, failed, {}, options);
  if (failed) return malformed(printable(name) + " is not JSON (" + failed.message() + ")");
  return value;
}

Result<json::object> read_object(const BlobSource& blobs, const std::string& name, const ImportLimits& limits) {
  BJ_TRY(const std::string text, read_blob(blobs, name, limits));
  BJ_TRY(json::value value, parse(text, name));
  if (!value.is_object()) return malformed(printable(name) + " is not a JSON object");
  return std::move(value.get_object());
}

std::string blob_name(const std::string& digest) { return "blobs/sha256/" + digest; }

Result<json::object> read_verified(const BlobSource& blobs, const Descriptor& descriptor, const ImportLimits& limits) {
  const std::string name = blob_name(descriptor.digest);
  BJ_TRY(const std::string text, read_blob(blobs, name, limits));
  if (text.size() != descriptor.size || sha256_hex(text) != descriptor.digest) {
    return malformed(name + " has not the contents that its digest and size promise");
  }
  BJ_TRY(json::value value, parse(text, name));
  if (!value.is_object()) return malformed(name + " is not a JSON object");
  return std::move(value.get_object());
}

Result<Descriptor> parse_descriptor(const json::value* value) {
  const json::object* object = value != nullptr ? value->if_object() : nullptr;
  if (object == nullptr) return malformed("a descriptor is missing");
  Descriptor out;
  out.media_type = text_of(*object, "mediaType");
  BJ_TRY(out.digest, parse_digest(text_of(*object, "digest")));
  const json::value* size = object->if_contains("size");
  boost::system::error_code failed;
  if (size != nullptr) out.size = size->to_number<uint64_t>(failed);
  if (size == nullptr || failed) return malformed("the descriptor of " + out.digest + " has no size");
  if (const json::object* platform = object_of(*object, "platform")) {
    out.platform = text_of(*platform, "os") + "/" + text_of(*platform, "architecture");
  }
  if (const json::object* annotations = object_of(*object, "annotations")) {
    out.attestation = text_of(*annotations, "vnd.docker.reference.type") == "attestation-manifest";
  }
  return out;
}

// The one image for this kind of machine among an index's manifests.
Result<Descriptor> choose(const json::object& index, const ImportLimits& limits) {
  const json::array* manifests = array_of(index, "manifests");
  if (manifests == nullptr || manifests->empty()) return malformed("its index lists no manifests");
  if (manifests->size() > limits.max_layers) return malformed("its index lists too many manifests");
  std::vector<Descriptor> candidates;
  std::set<std::string> seen, platforms;
  for (const json::value& each : *manifests) {
    BJ_TRY(Descriptor found, parse_descriptor(&each));
    if (found.attestation || found.platform == "unknown/unknown" || !seen.insert(found.digest).second) continue;
    if (!found.platform.empty()) platforms.insert(printable(found.platform, 40));
    if (found.platform.empty() || found.platform == "linux/amd64") candidates.push_back(std::move(found));
  }
  if (candidates.empty()) {
    return fail(Code::kInvalid, fmt::format("the image is not for linux/amd64 but for {}: export that platform",
                                            fmt::join(platforms, ", ")));
  }
  if (candidates.size() > 1) {
    return fail(Code::kInvalid,
                fmt::format("the archive holds {} images: export one of them alone", candidates.size()));
  }
  return candidates.front();
}

Result<json::object> find_manifest(const BlobSource& blobs, const ImportLimits& limits) {
  BJ_TRY(json::object index, read_object(blobs, "index.json", limits));
  for (unsigned depth = 0; depth < kIndexDepth; ++depth) {
    BJ_TRY(const Descriptor chosen, choose(index, limits));
    BJ_TRY(json::object found, read_verified(blobs, chosen, limits));
    if (one_of(chosen.media_type, kManifestTypes)) return found;
    if (!one_of(chosen.media_type, kIndexTypes)) {
      return fail(Code::kInvalid, "the image's manifest is of a kind that Belljar does not know (" +
                                      printable(chosen.media_type, 100) +
                                      "): export it as an OCI or docker-archive image");
    }
    index = std::move(found);
  }
  return malformed("its indexes lie in each other too deep");
}

std::vector<std::string> texts_of(const json::array* values) {
  std::vector<std::string> texts;
  if (values == nullptr) return texts;
  for (const json::value& value : *values) {
    if (const json::string* text = value.if_string()) texts.emplace_back(*text);
  }
  return texts;
}

// The config's part of an image: its platform is checked, its settings kept, its diff_ids joined to the layers.
Result<void> apply_config(const json::object& config, Image& image) {
  const std::string platform = text_of(config, "os") + "/" + text_of(config, "architecture");
  if (platform != "linux/amd64") {
    return fail(Code::kInvalid, "the image is for " + printable(platform, 60) + ": export the one for linux/amd64");
  }
  const json::object* rootfs = object_of(config, "rootfs");
  const std::vector<std::string> ids = texts_of(rootfs != nullptr ? array_of(*rootfs, "diff_ids") : nullptr);
  if (ids.size() != image.layers.size()) {
    return malformed(fmt::format("its config lists {} layers, its manifest {}", ids.size(), image.layers.size()));
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    BJ_TRY(image.layers[i].diff_id, parse_digest(ids[i]));
  }
  const json::object* settings = object_of(config, "config");
  if (settings == nullptr) return {};
  image.settings = checked_settings(texts_of(array_of(*settings, "Env")), text_of(*settings, "User"),
                                    text_of(*settings, "WorkingDir"));
  return {};
}

Result<void> check_layer_count(size_t count, const ImportLimits& limits) {
  if (count == 0) return malformed("it has no layers");
  if (count <= limits.max_layers) return {};
  return fail(Code::kExhausted,
              fmt::format("the image has {} layers and Belljar takes {}: flatten it (docker export makes one tar of a "
                          "container)",
                          count, limits.max_layers));
}

Result<ImageLayer> parse_layer(const json::value& value) {
  BJ_TRY(const Descriptor descriptor, parse_descriptor(&value));
  if (!one_of(descriptor.media_type, kLayerTypes)) {
    return fail(Code::kInvalid, "a layer of the image is of a kind that Belljar does not unpack (" +
                                    printable(descriptor.media_type, 100) +
                                    "): export the image with plain, gzip or zstd layers inside");
  }
  return ImageLayer{blob_name(descriptor.digest), descriptor.digest, descriptor.size, ""};
}

// docker save names a config by its digest, in one way or another; then it is checked.
Result<void> verify_named_digest(const std::string& name, const std::string& contents) {
  std::string_view stem = std::string_view(name).substr(name.rfind('/') + 1);  // npos + 1 == 0
  if (stem.ends_with(".json")) stem.remove_suffix(5);
  if (is_hex_digest(stem) && sha256_hex(contents) != stem)
    return malformed(printable(name) + " has not the contents that its name promises");
  return {};
}

}  // namespace

Result<Fd> DirectoryBlobs::open(const std::string& name) const {
  const Result<PathParts> parts = split_entry_path(name, limits_);
  if (!parts || parts->empty()) return malformed("it names a file outside itself (" + printable(name) + ")");
  BJ_TRY(Fd at, open_at(directory_, ".", O_PATH | O_DIRECTORY));
  for (size_t i = 0; i + 1 < parts->size(); ++i) {
    BJ_TRY(at, open_at(at.get(), (*parts)[i], O_PATH | O_DIRECTORY | O_NOFOLLOW));
  }
  Result<Fd> file = open_at(at.get(), parts->back(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat info{};
  if (!file || ::fstat(file->get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return malformed(printable(name) + " is missing or not a plain file");
  }
  return file;
}

Result<Image> read_oci_image(const BlobSource& blobs, const ImportLimits& limits) {
  BJ_TRY(const json::object layout, read_object(blobs, "oci-layout", limits));
  const std::string version = text_of(layout, "imageLayoutVersion");
  if (!version.starts_with("1.")) {
    return fail(Code::kInvalid, "the image's layout is of version \"" + printable(version, 20) +
                                    "\" and Belljar knows 1: export it as such");
  }
  BJ_TRY(const json::object manifest, find_manifest(blobs, limits));
  const json::array* layers = array_of(manifest, "layers");
  BJ_CHECK(check_layer_count(layers != nullptr ? layers->size() : 0, limits));
  Image image;
  for (const json::value& value : *layers) {
    BJ_TRY(ImageLayer layer, parse_layer(value));
    image.layers.push_back(std::move(layer));
  }
  BJ_TRY(const Descriptor config, parse_descriptor(manifest.if_contains("config")));
  if (!one_of(config.media_type, kConfigTypes)) {
    return fail(Code::kInvalid, "this is not a container image but an artifact (" + printable(config.media_type, 100) +
                                    "): export an image");
  }
  BJ_TRY(const json::object contents, read_verified(blobs, config, limits));
  BJ_CHECK(apply_config(contents, image));
  return image;
}

Result<Image> read_docker_image(const BlobSource& blobs, const ImportLimits& limits) {
  BJ_TRY(const std::string text, read_blob(blobs, "manifest.json", limits));
  BJ_TRY(const json::value value, parse(text, "manifest.json"));
  const json::array* images = value.if_array();
  if (images == nullptr || images->empty() || !(*images)[0].is_object())
    return malformed("manifest.json lists no image");
  if (images->size() > 1) {
    return fail(Code::kInvalid, fmt::format("the archive holds {} images: save one of them alone", images->size()));
  }
  const json::object& manifest = (*images)[0].get_object();
  const json::array* layers = array_of(manifest, "Layers");
  BJ_CHECK(check_layer_count(layers != nullptr ? layers->size() : 0, limits));
  Image image;
  for (const std::string& name : texts_of(layers)) image.layers.push_back({name, "", 0, ""});
  const std::string config_name = text_of(manifest, "Config");
  if (config_name.empty()) return malformed("manifest.json names no config");
  BJ_TRY(const std::string config, read_blob(blobs, config_name, limits));
  BJ_CHECK(verify_named_digest(config_name, config));
  BJ_TRY(const json::value contents, parse(config, config_name));
  if (!contents.is_object()) return malformed("its config is not a JSON object");
  BJ_CHECK(apply_config(contents.get_object(), image));
  return image;
}

bool is_image_index(const std::string& media_type) { return one_of(media_type, kIndexTypes); }
bool is_image_manifest(const std::string& media_type) { return one_of(media_type, kManifestTypes); }

Result<BlobDescriptor> chosen_manifest(const std::string& index, const ImportLimits& limits) {
  BJ_TRY(const json::value value, parse(index, "its index"));
  if (!value.is_object()) return malformed("its index is not a JSON object");
  BJ_TRY(const Descriptor chosen, choose(value.get_object(), limits));
  return static_cast<const BlobDescriptor&>(chosen);
}

Result<std::vector<BlobDescriptor>> blobs_of_manifest(const std::string& manifest, const ImportLimits& limits) {
  BJ_TRY(const json::value value, parse(manifest, "its manifest"));
  if (!value.is_object()) return malformed("its manifest is not a JSON object");
  const json::object& object = value.get_object();
  std::vector<BlobDescriptor> blobs;
  BJ_TRY(const Descriptor config, parse_descriptor(object.if_contains("config")));
  blobs.push_back(config);
  const json::array* const layers = array_of(object, "layers");
  BJ_CHECK(check_layer_count(layers != nullptr ? layers->size() : 0, limits));
  for (const json::value& layer : *layers) {
    BJ_CHECK(parse_layer(layer));
    BJ_TRY(const Descriptor one, parse_descriptor(&layer));
    blobs.push_back(one);
  }
  return blobs;
}

Result<void> verify_layer(const ImageLayer& layer, const StreamDigests& digests) {
  const bool blob_right =
      layer.digest.empty() || (digests.packed == layer.digest && digests.packed_bytes == layer.size);
  if (blob_right && digests.plain == layer.diff_id) return {};
  return malformed("layer " + printable(layer.name, 100) + " has not the contents that its digest promises");
}

}  // namespace bj
