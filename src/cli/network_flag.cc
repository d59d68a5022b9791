#include "cli/network_flag.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <charconv>

#include "cli/say.h"
#include "egress/policy_json.h"
#include "engine/environments/environment_index.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr size_t kLargestFile = 1u << 20;
constexpr std::string_view kAllow = "allow:";

PolicySource source() {
  PolicySource from;
  from.origin = "command line";
  from.author = PolicyAuthor::kAdministrator;
  from.package_hosts = package_hosts(index_settings());
  return from;
}

// "host", "host:443", "[2001:db8::1]:443", "192.0.2.0/24".
Result<boost::json::object> allow_rule(std::string_view text) {
  std::string_view host = text;
  std::optional<uint16_t> port;
  const size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  if (colon != std::string_view::npos && (bracketed ? text[colon - 1] == ']' : text.find(':') == colon)) {
    uint16_t number = 0;
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || number == 0) {
      return fail(Code::kInvalid, "\"" + std::string(text) + "\" does not end with a port from 1 to 65535");
    }
    port = number;
    host = text.substr(0, colon);
  }
  if (bracketed && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  boost::json::array ports;
  if (port) ports.emplace_back(static_cast<int64_t>(*port));  // as the parser of a text would have it
  if (!port) ports = {80, 443};
  return boost::json::object{{"allow", std::string(host)}, {"ports", std::move(ports)}};
}

Result<boost::json::value> allow_list(std::string_view list) {
  boost::json::array rules;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    BJ_TRY(boost::json::object rule, allow_rule(list.substr(0, comma)));
    rules.push_back(std::move(rule));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return boost::json::value{{"rules", std::move(rules)}};
}

Result<boost::json::value> json_of(const std::string& text) {
  boost::json::parse_options options;
  options.max_depth = 8;
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(text, error, {}, options);
  if (error) return fail(Code::kInvalid, "the network policy is no JSON: " + error.message());
  return value;
}

}  // namespace

Result<boost::json::value> network_policy_json(const std::string& text) {
  if (text.starts_with(kAllow)) return allow_list(std::string_view(text).substr(kAllow.size()));
  if (text == "none" || text == "packages" || text == "open") return boost::json::value(text);
  if (text.starts_with('{')) return json_of(text);
  const Result<std::string> file = read_file(text, kLargestFile);
  if (!file) {
    return fail(
        Code::kInvalid,
        "\"" + text + "\" is not none, packages, open, allow:HOST[:PORT],..., JSON or a file: " + file.error().what);
  }
  return json_of(*file);
}

Result<NetworkPolicy> parse_network_flag(const std::string& text) {
  BJ_TRY(const boost::json::value policy, network_policy_json(text));
  return parse_network_policy(policy, source());
}

void complain_about_network(const NetworkUse& use) {
  for (const auto* list : {&use.denied, &use.failed}) {
    for (const NetworkUse::Refused& refused : *list) complain("network: " + refusal_text(refused));
  }
  for (const std::string& cap : use.caps_reached) complain("network: the cap " + cap + " was reached");
}

void add_network_flag(CLI::App& command, NetworkPolicy& into) {
  const auto parse = [&into](const std::string& text) {
    Result<NetworkPolicy> policy = parse_network_flag(text);
    if (!policy) throw CLI::ValidationError("--network", policy.error().what);
    into = std::move(*policy);
  };
  command
      .add_option_function<std::string>("--network", parse,
                                        "what can be reached: none, packages, open, allow:HOST[:PORT],... or a file of "
                                        "JSON [none]")
      ->type_name("POLICY");
}

}  // namespace bj
