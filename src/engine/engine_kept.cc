// The part of an engine that goes on where a server before it was killed: as the same instance, with its locks on the
// instance's name and on user id ranges, which the keeper held meanwhile.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "engine/engine.h"
#include "engine/instance_alive.h"
#include "launcher/keeper_door.h"
#include "sys/files.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kOwnKey = "engine";
constexpr const char* kMachineLocks = "/run/belljar";  // shared by all Belljars that run as root here

json::object object_in(const std::string& text) {
  json::error_code bad;
  json::parse_options options;
  options.allow_invalid_utf8 = true;
  json::value value = json::parse(text, bad, {}, options);
  return bad || !value.is_object() ? json::object() : std::move(value.get_object());
}

}  // namespace

// As root, instances are known machine-wide.
Result<void> Engine::take_instance() {
  if (host_.abilities.root) BJ_CHECK(make_directories(kMachineLocks, 0755));
  const std::string directory = instances_directory(host_.abilities.root, options_.data_directory);
  const auto own =
      std::find_if(kept_.begin(), kept_.end(), [](const KeptThing& thing) { return thing.key == kOwnKey; });
  if (own == kept_.end() || own->descriptors.empty()) {
    kept_.clear();
    BJ_TRY(instance_, InstanceLock::take(directory, options_.data_directory + "\n"));
    return {};
  }
  const json::object note = object_in(own->note);
  generation_ = note.at("generation").to_number<uint64_t>() + 1;
  given_cgroup_ = std::string(note.at("cgroup").as_string());
  kept_own_ = std::move(own->descriptors);
  instance_ = InstanceLock::go_on(directory, std::string(note.at("instance").as_string()), std::move(kept_own_[0]));
  kept_.erase(own);
  for (const KeptThing& thing : kept_) {
    if (thing.key.find('/') != std::string::npos) continue;
    const json::object sandbox = object_in(thing.note);
    groups_[thing.key] = std::string(sandbox.at("group").as_object().at("name").as_string());
  }
  return {};
}

Result<void> Engine::open_uids() {
  if (!host_.abilities.root) return {};
  if (kept_own_.size() > 1) {
    BJ_TRY(host_.uids, UidRanges::go_on(std::move(kept_own_[1])));
    return {};
  }
  BJ_TRY(host_.uids, UidRanges::open(std::string(kMachineLocks) + "/uids"));
  return {};
}

void Engine::keep_own() {
  KeepRequest request;
  request.note = json::serialize(
      json::object{{"instance", instance()}, {"generation", generation_}, {"cgroup", cgroup_root_->given()}});
  request.descriptors.push_back(instance_.file().get());
  if (host_.uids) request.descriptors.push_back(host_.uids->file().get());
  host_.launcher->keep(kOwnKey, request);
}

std::string Engine::group_prefix() const {
  return instance() + "-" + (generation_ == 0 ? "" : "g" + std::to_string(generation_) + "-");
}

std::vector<std::string> Engine::kept_sandboxes() const {
  std::vector<std::string> keys;
  for (const KeptThing& thing : kept_) {
    if (thing.key.find('/') == std::string::npos) keys.push_back(thing.key);
  }
  return keys;
}

std::optional<Engine::KeptSandbox> Engine::take_kept(const std::string& key) {
  std::optional<KeptSandbox> found;
  for (KeptThing& thing : kept_) {
    if (thing.key == key) {
      found.emplace().sandbox = std::exchange(thing, {});  // it comes before its parts
    } else if (found && thing.key.starts_with(key + "/")) {
      found->parts.push_back(std::exchange(thing, {}));
    }
  }
  std::erase_if(kept_, [](const KeptThing& thing) { return thing.key.empty(); });
  return found;
}

// Groups of what died with the server before are removed, too; what still has processes goes at the end.
void Engine::settle_kept() {
  if (!goes_on_) return;
  for (const std::string& key : kept_sandboxes()) {
    host_.launcher->forget(key);
    groups_.erase(key);
  }
  kept_.clear();
  if (host_.uids) host_.uids->settle();
  const auto in_use = [&](const std::string& name) {
    if (name.starts_with(group_prefix())) return true;
    return std::any_of(groups_.begin(), groups_.end(), [&](const auto& group) { return group.second == name; });
  };
  (void)cgroup_root_->remove_leftovers(instance() + "-", in_use);
}

// With sandboxes that nobody has taken up it is as if this server had been killed, too: the next one finds them.
void Engine::take_leave() {
  const bool leaves_some = !kept_.empty();
  if (!leaves_some) {
    if (cgroup_root_) (void)cgroup_root_->remove_leftovers(instance() + "-");  // what nobody would know of any more
    if (host_.launcher->keeps()) remove_door(options_.data_directory);
    instance_.release();
  }
  host_.launcher.reset();  // it ends when its socket closes
}

}  // namespace bj
