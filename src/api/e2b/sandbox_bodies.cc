#include "api/e2b/sandbox_bodies.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "api/e2b/header_rules.h"
#include "api/e2b/services.h"
#include "api/handler.h"
#include "egress/ip_address.h"
#include "egress/policy_json.h"
#include "egress/policy_lists.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

constexpr int64_t kFirstTimeout = 15;  // seconds, of clients of the first version that say nothing
constexpr int64_t kUsualTimeout = 300;

tl::unexpected<Error> invalid(std::string sentence) { return fail(Code::kInvalid, std::move(sentence)); }

Result<std::vector<std::string>> texts(const json::object& object, const char* name) {
  std::vector<std::string> list;
  const json::value* const given = object.if_contains(name);
  if (given == nullptr || given->is_null()) return list;
  if (!given->is_array()) return invalid(std::string(name) + " must be a list of texts");
  for (const json::value& item : given->get_array()) {
    if (!item.is_string()) return invalid(std::string(name) + " must be a list of texts");
    list.emplace_back(item.get_string());
  }
  return list;
}

Result<json::array> read_ports(const json::object& object, const char* name) {
  const json::value* const given = object.if_contains(name);
  if (given == nullptr || given->is_null()) return json::array();
  if (!given->is_array()) return invalid(std::string(name) + " must be a list of ports");
  json::array ports;
  for (const json::value& item : given->get_array()) {
    if (!item.is_int64() || item.get_int64() < 1 || item.get_int64() > 65535)
      return invalid(std::string(name) + " must be a list of ports");
    if (item.get_int64() == kEnvdPort || item.get_int64() == kCodePort)
      return invalid(std::string(name) + ": on that port the server itself answers");
    ports.push_back(item);
  }
  return ports;
}

bool asks_for(const json::object& object, const char* name) {
  const json::value* const given = object.if_contains(name);
  if (given == nullptr || given->is_null()) return false;
  if (given->is_object()) return !given->get_object().empty();
  return !given->is_array() || !given->get_array().empty();
}

// What is refused rather than forgotten: a sandbox that lacks what was asked for would look like one that has it.
Result<void> refuse_unknown_wishes(const json::object& network) {
  if (asks_for(network, "egressProxy")) return invalid("network.egressProxy is not supported");
  return {};
}

// They are kept and shown only, but who mistyped one is told so, as by E2B.
Result<void> check_dns_servers(const json::object& network) {
  constexpr size_t kMostServers = 10;
  BJ_TRY(const std::vector<std::string> servers, texts(network, "dnsServers"));
  const auto is_v4 = [](const std::string& text) {
    const std::optional<IpAddress> address = IpAddress::parse(text);
    return address && !address->is_v6;
  };
  if (servers.size() > kMostServers || !std::all_of(servers.begin(), servers.end(), is_v4))
    return invalid("dnsServers must be a list of 10 IPv4 addresses at most");
  return {};
}

struct Lifecycle {
  bool pause = false, pause_memory = true, resume = false;
};

Result<Lifecycle> read_lifecycle(ModelReader& reader) {
  Lifecycle life;
  life.pause = reader.optional_boolean("autoPause").value_or(false);
  life.pause_memory = reader.optional_boolean("autoPauseMemory").value_or(true);
  if (const auto resume = reader.optional_object("autoResume")) {
    const json::value* const enabled = resume->if_contains("enabled");
    life.resume = enabled != nullptr && enabled->is_bool() && enabled->get_bool();
  }
  if (!life.pause_memory && !life.pause) return invalid("autoPauseMemory can only be false with autoPause");
  if (!life.pause_memory && life.resume) return invalid("autoResume needs the memory to be kept (autoPauseMemory)");
  return life;
}

Result<std::vector<VolumeWish>> read_mounts(const json::value& mounts) {
  const auto text = [](const json::value& from, const char* key) -> std::string {
    const json::value* const found = from.is_object() ? from.get_object().if_contains(key) : nullptr;
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
  };
  if (!mounts.is_array()) return invalid("volumeMounts must be a list of {name, path}");
  std::vector<VolumeWish> wishes;
  for (const json::value& one : mounts.get_array()) {
    VolumeWish wish;
    wish.name = text(one, "name");
    wish.path = text(one, "path");
    if (wish.name.empty() || wish.path.empty()) return invalid("volumeMounts must be a list of {name, path}");
    wishes.push_back(std::move(wish));
  }
  return wishes;
}

struct Wanted {
  NewSandbox sandbox;
  Lifecycle life;
  std::optional<bool> internet, secure;
  std::optional<json::object> network;
  std::optional<std::string> problem;
};

Wanted read_fields(ModelReader& reader) {
  Wanted wanted;
  wanted.sandbox.template_name = reader.string("templateID", 1);
  wanted.sandbox.timeout_s = reader.optional_integer("timeout");
  wanted.sandbox.metadata = reader.optional_string_map("metadata").value_or(SandboxEnvironment());
  wanted.sandbox.environment = reader.optional_string_map("envVars").value_or(SandboxEnvironment());
  wanted.internet = reader.optional_boolean("allow_internet_access");
  wanted.secure = reader.optional_boolean("secure");
  wanted.network = reader.optional_object("network");
  const json::value* const mounts = reader.take("volumeMounts", NullCounts::kAsAbsent);
  const auto identities = reader.optional_object("iam");
  const auto gateway = reader.optional_object("mcp");
  if (mounts != nullptr) {
    Result<std::vector<VolumeWish>> volumes = read_mounts(*mounts);
    if (volumes)
      wanted.sandbox.wishes.volumes = std::move(*volumes);
    else
      wanted.problem = volumes.error().what;
  }
  if (identities && !identities->empty()) wanted.problem = "iam is not supported";
  if (gateway && !gateway->empty()) wanted.problem = "mcp is not supported: there is no template with E2B's gateway";
  const Result<Lifecycle> life = read_lifecycle(reader);
  if (life)
    wanted.life = *life;
  else
    wanted.problem = life.error().what;
  return wanted;
}

}  // namespace

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

Result<NetworkWishes> read_network(const json::object* network, std::optional<bool> internet) {
  NetworkWishes wishes;
  OutboundLists lists;
  lists.unsaid = NetworkPreset::kOpen;
  lists.internet_access = internet;
  if (network != nullptr) {
    BJ_CHECK(refuse_unknown_wishes(*network));
    BJ_CHECK(check_dns_servers(*network));
    BJ_CHECK(read_header_rules(*network));  // from here on they stand with what was asked for
    BJ_TRY(lists.allow_out, texts(*network, "allowOut"));
    BJ_TRY(lists.deny_out, texts(*network, "denyOut"));
    const json::value* const open = network->if_contains("allowPublicTraffic");
    if (open != nullptr && open->is_bool() && !open->get_bool()) wishes.access = "token";
    wishes.asked = *network;
  }
  Result<NetworkPolicy> policy = policy_of_outbound_lists(lists, "sandbox");
  if (!policy) return invalid(policy.error().what);
  wishes.policy = json::serialize(to_json(*policy));
  return wishes;
}

Result<NewSandbox> read_new_sandbox(const HttpRequest& request, ApiVersion version) {
  BJ_TRY(Wanted wanted, read_body(request, UnknownKeys::kIgnore, read_fields));
  if (wanted.problem) return invalid(*wanted.problem);
  NewSandbox& sandbox = wanted.sandbox;
  if (!sandbox.timeout_s) sandbox.timeout_s = version == ApiVersion::kFirst ? kFirstTimeout : kUsualTimeout;
  if (*sandbox.timeout_s <= 0) return invalid("timeout must be greater than 0");
  sandbox.template_name = lower_case(std::move(sandbox.template_name));
  BJ_TRY(NetworkWishes network, read_network(wanted.network ? &*wanted.network : nullptr, wanted.internet));
  const bool secure = version == ApiVersion::kSecond || wanted.secure.value_or(false);
  if (network.access == "token" && !secure)
    return invalid("allowPublicTraffic: false needs a secured sandbox (secure)");
  sandbox.network = std::move(network.policy);
  sandbox.access = std::move(network.access);
  sandbox.on_timeout = !wanted.life.pause ? "kill" : wanted.life.pause_memory ? "pause" : "stop";
  sandbox.wakes = wanted.life.resume;
  json::object details{{"secure", secure}, {"network", std::move(network.asked)}};
  if (wanted.internet) details["internet"] = *wanted.internet;
  const json::object& asked = details["network"].get_object();
  if (const json::value* const mask = asked.if_contains("maskRequestHost"); mask != nullptr && mask->is_string())
    details["mask_host"] = *mask;
  BJ_TRY(json::array secure_ports, read_ports(asked, "httpsPorts"));
  if (!secure_ports.empty()) details["https_ports"] = std::move(secure_ports);
  sandbox.details = json::serialize(details);
  return sandbox;
}

}  // namespace bj::e2b
