// What a call or a sandbox may reach, put together from what its organization, its template, its sandbox configuration,
// its tool and the call itself say: each can only take away from what those before it allow. This is the one place
// where the layers meet.
//
// A template takes away and never asks. A configuration, a tool or a call that says nothing about the network takes
// nothing away, but one of them must ask: a call for which none does has no network, whatever its organization allows.
// An organization without a policy of its own has the server's, which allows nothing unless it was set. Only that
// outermost layer may list private addresses.
//
// Pure; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "egress/policy.h"

namespace bj {

// What a configuration, a tool or a call says: its keys "network" and "credentials".
struct NetworkWish {
  std::optional<boost::json::value> network;  // a policy; absent: it says nothing. null, {} and "none" allow nothing
  std::vector<std::string> credentials;       // names

  bool empty() const { return !network && credentials.empty(); }
};

struct NetworkLayers {
  boost::json::value organization = "none";   // its own policy, or the server's
  std::vector<boost::json::value> templates;  // policies of what it is made of
  NetworkWish configuration, tool, call;      // of a call
  NetworkWish sandbox;                        // of one that lives

  bool asks_for_network() const { return configuration.network || tool.network || call.network || sandbox.network; }
  // Each name once, in the order of the layers.
  std::vector<std::string> credentials() const;
};

// The two keys of an object that may have others. Whose it is, for messages: "tool". The policy is not looked into:
// check_network_wish() does, where a wish is written.
Result<NetworkWish> read_network_wish(const boost::json::object& from, const std::string& whose);
// kUnprocessable, with a sentence.
Result<void> check_network_wish(const boost::json::object& from, const std::string& whose);
// What is written for a template.
Result<void> check_template_policy(const boost::json::value& policy);
// What an administrator writes for an organization, or for all that have nothing of their own.
Result<void> check_organization_policy(const boost::json::value& policy);

// Nobody asks: the empty policy. A layer that can't be read is an error that says whose.
Result<NetworkPolicy> join_network(const NetworkLayers& layers, const std::vector<std::string>& package_hosts);
// What is left of a policy within those of templates.
Result<NetworkPolicy> within_templates(NetworkPolicy policy, const std::vector<boost::json::value>& templates,
                                       const std::vector<std::string>& package_hosts);

}  // namespace bj
