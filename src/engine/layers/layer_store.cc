#include "engine/layers/layer_store.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <map>
#include <set>
#include <utility>

#include "base/compact_id.h"
#include "engine/layers/layer_join.h"
#include "sys/file_lock.h"
#include "sys/files.h"
#include "sys/names.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kIdPrefix = "ly";
constexpr const char* kNewPrefix = ".new-";
constexpr const char* kGonePrefix = ".gone-";
constexpr const char* kLinks = "links";
constexpr const char* kRecord = "layer.json";
constexpr const char* kDurable = "durable";
constexpr size_t kLongestRecord = 64u << 10;

bool is_layer_id(std::string_view id) { return is_compact_id(kIdPrefix, id); }

Result<std::string> boot_of_machine() {
  BJ_TRY(std::string text, read_file("/proc/sys/kernel/random/boot_id", 64));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Result<bool> try_lock(const Fd& dir, Lock lock) { return try_lock_file(dir.get(), lock, "layer"); }

bool is_empty(const Fd& dir) {
  const Result<std::vector<Entry>> entries = list_directory(dir.get());
  return entries && entries->empty();
}

std::string encode(const Layer& layer, const std::string& boot) {
  json::array trees;
  for (const TemplateLayer& tree : layer.trees)
    trees.push_back(json::object{{"name", tree.path.substr(tree.path.rfind('/') + 1)}, {"target", tree.target}});
  return json::serialize(json::object{{"boot", boot},
                                      {"trees", std::move(trees)},
                                      {"entries", layer.counts.entries},
                                      {"size_bytes", layer.counts.size_bytes},
                                      {"sockets_left_out", layer.counts.sockets_left_out},
                                      {"attributes_left_out", layer.counts.attributes_left_out}}) +
         "\n";
}

uint64_t number_at(const json::object& object, const char* name) {
  const json::value* const value = object.if_contains(name);
  return value != nullptr && value->is_number() ? value->to_number<uint64_t>() : 0;
}

std::string text_at(const json::object& object, const char* name) {
  const json::value* const value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

// What layer.json says, and the boot of the machine that it was made in.
Result<std::pair<Layer, std::string>> decode(const std::string& text, const std::string& place) {
  json::error_code bad;
  const json::value value = json::parse(text, bad);
  const json::value* const trees = !bad && value.is_object() ? value.get_object().if_contains("trees") : nullptr;
  if (trees == nullptr || !trees->is_array()) return fail(Code::kInternal, place + "/layer.json is not ours");
  const json::object& object = value.get_object();
  Layer layer;
  for (const json::value& tree : trees->get_array()) {
    if (!tree.is_object()) continue;
    layer.trees.push_back({place + "/" + text_at(tree.get_object(), "name"), text_at(tree.get_object(), "target")});
  }
  layer.counts.entries = number_at(object, "entries");
  layer.counts.size_bytes = number_at(object, "size_bytes");
  layer.counts.sockets_left_out = number_at(object, "sockets_left_out");
  layer.counts.attributes_left_out = number_at(object, "attributes_left_out");
  return std::pair(std::move(layer), text_at(object, "boot"));
}

Result<void> write_record(const Fd& dir, const Layer& layer) {
  BJ_TRY(const std::string boot, boot_of_machine());
  BJ_TRY(const Fd file, open_at(dir.get(), kRecord, O_WRONLY | O_CREAT | O_EXCL, 0600));
  return write_all(file.get(), encode(layer, boot), kRecord);
}

// Each place's tree, under its number, in `dir`.
Result<void> copy_trees(const UpperFiles& upper, const Fd& dir, const std::string& final_place,
                        const LayerLimits& limits, const std::atomic<bool>* stop, Layer& layer) {
  LayerLimits left = limits;
  for (size_t i = 0; i < upper.places.size(); ++i) {
    BJ_TRY(const Fd from, open_at(upper.filesystem->get(), upper.places[i].name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (is_empty(from)) continue;
    const std::string name = std::to_string(i);
    BJ_TRY(const Fd links, new_directory(dir.get(), kLinks, 0700));
    BJ_TRY(const Fd to, new_directory(dir.get(), name, 0700));
    BJ_TRY(const LayerCounts counts, copy_layer_tree(from.get(), to.get(), links.get(), upper.ids, left, stop));
    BJ_CHECK(remove_tree(dir.get(), kLinks));
    layer.counts += counts;
    left.max_bytes -= std::min(left.max_bytes, counts.size_bytes);
    left.max_entries -= std::min(left.max_entries, counts.entries);
    layer.trees.push_back({final_place + "/" + name, upper.places[i].target});
  }
  return {};
}

// Renamed first, so that half a layer is never found under its name.
Result<void> remove_layer(const Fd& directory, const std::string& name) {
  const std::string gone = kGonePrefix + name;
  Result<void> renamed = rename_at(directory.get(), name, gone);
  if (!renamed) return renamed.error().sys == ENOENT ? Result<void>() : renamed;
  return remove_tree(directory.get(), gone);
}

}  // namespace

Result<Fd> LayerStore::open_directory() const {
  BJ_CHECK(make_directories(directory_, 0700));
  return open_path(directory_, O_RDONLY | O_DIRECTORY);
}

// Under another name, locked, until it is whole.
Result<Layer> LayerStore::make(const Fill& fill) const {
  BJ_TRY(const Fd directory, open_directory());
  Layer layer;
  layer.id = new_compact_id(kIdPrefix);
  const std::string aside = kNewPrefix + layer.id;
  BJ_TRY(Fd dir, new_directory(directory.get(), aside, 0700));
  BJ_TRY(const bool locked, try_lock(dir, Lock::kShared));
  Result<void> done = fill(dir, layer);
  if (done) done = write_record(dir, layer);
  if (done && !locked) done = fail(Code::kInternal, "a new layer is locked by somebody else");
  if (done) done = rename_at(directory.get(), aside, layer.id);
  if (!done) {
    (void)remove_tree(directory.get(), aside);
    return tl::unexpected(done.error());
  }
  layer.hold = std::make_shared<const Fd>(std::move(dir));
  return layer;
}

Result<Layer> LayerStore::capture(const UpperFiles& upper, const LayerLimits& limits,
                                  const std::atomic<bool>* stop) const {
  return make([&](const Fd& dir, Layer& layer) {
    return copy_trees(upper, dir, directory_ + "/" + layer.id, limits, stop, layer);
  });
}

Result<Layer> LayerStore::join(const std::vector<std::string>& ids) const {
  std::vector<Layer> parts;
  for (const std::string& id : ids) {
    BJ_TRY(Layer part, find(id));
    parts.push_back(std::move(part));
  }
  return make([&](const Fd& dir, Layer& layer) -> Result<void> {
    std::map<std::string, std::string> names;  // of trees, by target
    for (const Layer& part : parts) {
      for (const TemplateLayer& tree : part.trees) {
        const auto [place, fresh] = names.emplace(tree.target, std::to_string(names.size()));
        if (fresh) {
          BJ_CHECK(make_directory(dir.get(), place->second, 0700));
          layer.trees.push_back({directory_ + "/" + layer.id + "/" + place->second, tree.target});
        }
        BJ_TRY(const Fd from, open_path(tree.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
        BJ_TRY(const Fd onto, open_at(dir.get(), place->second, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
        BJ_CHECK(join_layer_tree(from.get(), onto.get(), {}));
      }
      layer.counts += part.counts;
    }
    return {};
  });
}

Result<Layer> LayerStore::find(const std::string& id) const {
  if (!is_layer_id(id)) return fail(Code::kNotFound, "there is no layer " + id.substr(0, 64));
  const std::string place = directory_ + "/" + id;
  Result<Fd> dir = open_path(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!dir) return fail(Code::kNotFound, "there is no layer " + id, dir.error().sys);
  BJ_TRY(const bool locked, try_lock(*dir, Lock::kShared));
  if (!locked) return fail(Code::kNotFound, "layer " + id + " is being removed");
  BJ_TRY(const Fd record, open_at(dir->get(), kRecord, O_RDONLY | O_NOFOLLOW));
  BJ_TRY(const std::string text, read_all(record.get(), kLongestRecord, kRecord));
  BJ_TRY(auto decoded, decode(text, place));
  auto& [layer, boot] = decoded;
  layer.id = id;
  layer.durable = status_at(dir->get(), kDurable).has_value();
  BJ_TRY(const std::string now, boot_of_machine());
  if (!layer.durable && boot != now)
    return fail(Code::kUnavailable, "the machine went down before these files had reached its disk");
  layer.hold = std::make_shared<const Fd>(std::move(*dir));
  return std::move(layer);
}

Result<void> LayerStore::make_durable(const std::string& id) const {
  BJ_TRY(const Layer layer, find(id));
  if (layer.durable) return {};
  const int dir = layer.hold->get();
  if (::syncfs(dir) != 0) return fail_errno("syncfs(" + id + ")");
  BJ_TRY(const Fd mark, open_at(dir, kDurable, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
  if (::fsync(mark.get()) != 0 || ::fsync(dir) != 0) return fail_errno("fsync(" + id + ")");
  BJ_TRY(const Fd directory, open_directory());
  if (::fsync(directory.get()) != 0) return fail_errno("fsync(layers)");
  return {};
}

Result<void> LayerStore::remove(const std::string& id) const {
  if (!is_layer_id(id)) return fail(Code::kNotFound, "there is no layer " + id.substr(0, 64));
  BJ_TRY(const Fd directory, open_directory());
  const Result<Fd> dir = open_at(directory.get(), id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!dir) return {};
  BJ_TRY(const bool locked, try_lock(*dir, Lock::kAlone));
  if (!locked) return {};
  return remove_layer(directory, id);
}

Result<std::vector<std::string>> LayerStore::ids() const {
  BJ_TRY(const Fd directory, open_directory());
  BJ_TRY(const std::vector<Entry> entries, list_directory(directory.get()));
  std::vector<std::string> ids;
  for (const Entry& entry : entries) {
    if (is_layer_id(entry.name)) ids.push_back(entry.name);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<size_t> LayerStore::remove_unless(const std::function<bool(const std::string& id)>& referred) const {
  BJ_TRY(const Fd directory, open_directory());
  BJ_TRY(const std::vector<Entry> entries, list_directory(directory.get()));
  size_t removed = 0;
  for (const Entry& entry : entries) {
    const bool layer = is_layer_id(entry.name);
    const bool gone = entry.name.starts_with(kGonePrefix);
    if (!layer && !gone && !entry.name.starts_with(kNewPrefix)) continue;
    if (layer && referred(entry.name)) continue;
    const Result<Fd> dir = open_at(directory.get(), entry.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!dir) continue;
    BJ_TRY(const bool locked, try_lock(*dir, Lock::kAlone));
    if (!locked) continue;
    BJ_CHECK(layer ? remove_layer(directory, entry.name) : remove_tree(directory.get(), entry.name));
    removed += layer ? 1 : 0;
  }
  return removed;
}

Template stacked(Template image, const Layer& layer) {
  std::vector<TemplateLayer> layers;
  std::set<std::string> placed;
  for (TemplateLayer& below : image.layers) {
    if (placed.insert(below.target).second) {
      for (const TemplateLayer& tree : layer.trees) {
        if (tree.target == below.target) layers.push_back(tree);
      }
    }
    layers.push_back(std::move(below));
  }
  image.layers = std::move(layers);
  return image;
}

}  // namespace bj
