#include "api/e2b/secret_uses.h"

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "api/e2b/header_rules.h"
#include "base/log.h"
#include "tools/stored_json.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

struct Use {
  std::string sandbox;
  std::string network;  // as SandboxRow::network
  json::object details;
};

json::object* network_in(json::object& details) {
  json::value* const network = details.if_contains("network");
  return network != nullptr && network->is_object() ? &network->get_object() : nullptr;
}

bool names(const json::object& network, const std::string& secret) {
  const Result<std::vector<HeaderRule>> rules = read_header_rules(network);
  return rules &&
         std::any_of(rules->begin(), rules->end(), [&](const HeaderRule& rule) { return rule.secret == secret; });
}

std::vector<Use> uses_of(SandboxManager& manager, const std::string& organization, const std::string& secret) {
  std::vector<Use> uses;
  for (const auto& [id, sandbox] : manager.all_held()) {
    if (sandbox->row.organization != organization) continue;
    Use use{id, sandbox->row.network, stored_object(sandbox->row.details)};
    const json::object* const network = network_in(use.details);
    if (network != nullptr && names(*network, secret)) uses.push_back(std::move(use));
  }
  return uses;
}

Task<void> give_again(SandboxManager& manager, Actor actor, Use use) {
  const Result<SandboxRow> given =
      co_await manager.set_network(std::move(actor), use.sandbox, use.network, json::serialize(use.details));
  if (!given) log_warning("secret_not_renewed", {{"sandbox", use.sandbox}, {"why", given.error().what}});
}

}  // namespace

Task<void> renew_secret_uses(SandboxManager& manager, Actor actor, std::string secret) {
  for (Use& use : uses_of(manager, actor.organization, secret)) co_await give_again(manager, actor, std::move(use));
}

Task<void> end_secret_uses(SandboxManager& manager, Actor actor, std::string secret) {
  for (Use& use : uses_of(manager, actor.organization, secret)) {
    remove_secret(*network_in(use.details), secret);
    co_await give_again(manager, actor, std::move(use));
  }
}

}  // namespace bj::e2b
