// The part of a sandbox that outlives its server: what the keeper is given, and how the next server makes a sandbox of
// it again. The descriptors are its first process, its warden's socket and the filesystem of what it writes; with a
// gate, the gate's ends and the file of the names that it has given addresses to. The note is everything else, as JSON.
#include <sys/random.h>
#include <sys/socket.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/log.h"
#include "egress/gate.h"
#include "engine/sandbox.h"
#include "sys/duplicate.h"
#include "sys/pidfd.h"
#include "sys/shared_memory.h"

namespace bj {
namespace {

namespace json = boost::json;
constexpr size_t kPlain = 3, kWithGate = kPlain + GateEndpoints::kCount + 1;  // descriptors
using Texts = std::map<std::string, std::string>;

json::object json_of(const Texts& texts) {
  json::object out;
  for (const auto& [key, value] : texts) out[key] = value;
  return out;
}

json::array json_of(const Limits& l) {
  return {l.wall_ms,    l.cpu_ms,     l.cpus,         l.memory_bytes,   l.processes,
          l.open_files, l.disk_bytes, l.output_bytes, l.argument_bytes, l.return_bytes};
}

json::object json_of(const Template& image) {
  json::array layers;
  for (const TemplateLayer& layer : image.layers) layers.push_back(json::array{layer.path, layer.target});
  return {{"name", image.name},
          {"layers", std::move(layers)},
          {"environment", json_of(image.environment)},
          {"user", image.user},
          {"workdir", image.workdir},
          {"sudo", image.sudo},
          {"start_command", image.start_command},
          {"ready_command", image.ready_command}};
}

json::array json_of(const Seal& seal) {
  json::array reports;
  for (size_t i = 0; i < static_cast<size_t>(Control::kCount); ++i) {
    const ControlReport& report = seal.at(static_cast<Control>(i));
    reports.push_back(json::array{static_cast<int>(report.state), report.detail});
  }
  return reports;
}

std::string text_in(const json::object& from, const char* name) { return std::string(from.at(name).as_string()); }

Texts texts_in(const json::object& from, const char* name) {
  Texts texts;
  for (const auto& item : from.at(name).as_object())
    texts[std::string(item.key())] = std::string(item.value().as_string());
  return texts;
}

Limits limits_in(const json::array& from) {
  Limits l;
  size_t at = 0;
  for (uint64_t* const place : {&l.wall_ms, &l.cpu_ms}) *place = from.at(at++).to_number<uint64_t>();
  l.cpus = from.at(at++).to_number<double>();
  for (uint64_t* const place : {&l.memory_bytes, &l.processes, &l.open_files, &l.disk_bytes, &l.output_bytes,
                                &l.argument_bytes, &l.return_bytes})
    *place = from.at(at++).to_number<uint64_t>();
  return l;
}

Template template_in(const json::object& from) {
  Template image;
  image.name = text_in(from, "name");
  for (const json::value& layer : from.at("layers").as_array())
    image.layers.push_back(
        {std::string(layer.as_array().at(0).as_string()), std::string(layer.as_array().at(1).as_string())});
  image.environment = texts_in(from, "environment");
  image.user = text_in(from, "user");
  image.workdir = text_in(from, "workdir");
  image.sudo = from.at("sudo").as_bool();
  image.start_command = text_in(from, "start_command");
  image.ready_command = text_in(from, "ready_command");
  return image;
}

Seal seal_in(const json::array& from) {
  Seal seal;
  for (size_t i = 0; i < static_cast<size_t>(Control::kCount); ++i) {
    const json::array& report = from.at(i).as_array();
    seal.set(static_cast<Control>(i), static_cast<ControlState>(report.at(0).to_number<int>()),
             std::string(report.at(1).as_string()));
  }
  return seal;
}

}  // namespace

std::string Sandbox::note() const {
  const CgroupUsage before = group_.used_before();
  json::object account{{"uid", account_.uid}, {"gid", account_.gid}, {"home", account_.home}};
  json::object group{{"name", group_.name()},
                     {"cpu_ns", before.cpu_ns},
                     {"memory_kills", before.memory_kills},
                     {"forks_refused", before.forks_refused}};
  json::object note{{"image", json_of(spec_.image)},
                    {"limits", json_of(spec_.limits)},
                    {"environment", json_of(spec_.environment)},
                    {"user", spec_.user},
                    {"account", std::move(account)},
                    {"range", host_.uids ? static_cast<int64_t>(range_.index()) : -1},
                    {"group", std::move(group)},
                    {"seal", json_of(seal_)},
                    {"trust", json_of(trust_)},
                    {"late_gate", spec_.gated}};
  if (untrusted_) note["untrusted"] = untrusted_->what;
  if (gate_) note["authority"] = gate_->authority().value_or("");
  json::object placeholders;  // which code inside has; the values are asked for again
  for (const GateCredential& credential : spec_.credentials) placeholders[credential.name] = credential.placeholder;
  note["placeholders"] = std::move(placeholders);
  return json::serialize(note);
}

void Sandbox::keep_as(const std::string& key) {
  if (!host_.launcher->keeps() || !scratch_) return;
  KeepRequest request;
  request.is_life = true;
  request.descriptors = {pidfd_->native_handle(), warden_->native_handle(), scratch_->get()};
  Fd names;
  if (gate_) {
    names = new_memory_file("names").value_or(Fd());
    Result<Fd> copy = duplicate(names.get());
    if (!copy || !gate_->remember_in(std::move(*copy))) return;  // it ends with this server
    for (const Fd* end : kept_ends_.all()) request.descriptors.push_back(end->get());
    request.descriptors.push_back(names.get());
  }
  request.note = note();
  warden_->be_careful();
  host_.launcher->keep(key, request);
  kept_as_ = key;
  kept_ends_ = {};
}

void Sandbox::keep_until(int64_t when_us) {
  if (!kept_as_.empty() && host_.launcher) host_.launcher->move_deadline(kept_as_, when_us);
}

Result<void> Sandbox::read_note(const std::string& text, SandboxNetwork network) {
  json::parse_options options;
  options.allow_invalid_utf8 = true;
  json::error_code bad;
  const json::value value = json::parse(text, bad, {}, options);
  if (bad || !value.is_object()) return fail(Code::kInternal, "what was kept of the sandbox can't be read");
  const json::object& from = value.get_object();
  spec_.image = template_in(from.at("image").as_object());
  spec_.limits = limits_in(from.at("limits").as_array());
  spec_.environment = texts_in(from, "environment");
  spec_.user = text_in(from, "user");
  spec_.gated = from.at("late_gate").as_bool();
  spec_.network = std::move(network.policy);
  spec_.on_network = std::move(network.listener);
  spec_.credentials = std::move(network.credentials);
  const Texts placeholders = texts_in(from, "placeholders");
  for (GateCredential& credential : spec_.credentials) {
    if (const auto known = placeholders.find(credential.name); known != placeholders.end())
      credential.placeholder = known->second;
  }
  const json::object& account = from.at("account").as_object();
  account_ = {account.at("uid").to_number<uid_t>(), account.at("gid").to_number<gid_t>(), text_in(account, "home")};
  if (const auto range = from.at("range").to_number<int64_t>(); range >= 0 && host_.uids) {
    BJ_TRY(range_, host_.uids->take_up(static_cast<uint32_t>(range)));
  }
  const json::object& group = from.at("group").as_object();
  const CgroupUsage before{group.at("cpu_ns").to_number<uint64_t>(), group.at("memory_kills").to_number<uint64_t>(),
                           group.at("forks_refused").to_number<uint64_t>()};
  BJ_TRY(group_, host_.cgroups->take_up(text_in(group, "name"), spec_.limits, before));
  seal_ = seal_in(from.at("seal").as_array());
  trust_ = texts_in(from, "trust");
  if (from.contains("untrusted")) untrusted_ = Error{Code::kUnavailable, text_in(from, "untrusted")};
  if (from.contains("authority")) kept_authority_ = text_in(from, "authority");
  return {};
}

Result<void> Sandbox::take_descriptors(std::vector<Fd> descriptors) {
  if (descriptors.size() != kPlain && descriptors.size() != kWithGate)
    return fail(Code::kInternal, "the sandbox was kept without its descriptors");
  if (bj::has_ended(descriptors[0].get())) return fail(Code::kNotFound, "it ended while no server was running");
  pidfd_ = std::make_unique<asio::posix::stream_descriptor>(host_.executor, descriptors[0].release());
  warden_ = std::make_shared<WardenClient>(host_.executor, std::move(descriptors[1]));
  warden_->be_careful();
  uint32_t first_id = 0;
  (void)::getrandom(&first_id, sizeof first_id, 0);
  warden_->go_on(first_id);
  scratch_ = std::make_shared<const Fd>(std::move(descriptors[2]));
  if (descriptors.size() == kPlain) return {};
  GateEndpoints ends;
  for (size_t i = 0; i < GateEndpoints::kCount; ++i) *ends.all()[i] = std::move(descriptors[kPlain + i]);
  BJ_CHECK(open_gate(std::move(ends)));
  return gate_->remember_in(std::move(descriptors.back()));
}

Result<std::shared_ptr<Sandbox>> Sandbox::take_up(Host& host, KeptThing thing, SandboxNetwork network) {
  std::shared_ptr<Sandbox> sandbox(new Sandbox(host, {}));
  sandbox->kept_as_ = thing.key;
  BJ_CHECK(sandbox->read_note(thing.note, std::move(network)));
  BJ_CHECK(sandbox->take_descriptors(std::move(thing.descriptors)));
  if (sandbox->group_.is_frozen()) {
    sandbox->stand_still();
    sandbox->warden_->set_stillness(WardenClient::Stillness::kPaused);
  }
  return sandbox;
}

}  // namespace bj
