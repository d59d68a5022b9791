// A policy from a caller: what is accepted survives JSON unchanged, never reaches a place that is not public, and
// combined with another allows no more than each of them.
#include <boost/json/serialize.hpp>
#include <cstdlib>

#include "egress/policy_json.h"
#include "seeds.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

const bj::PolicySource kSource{"call", bj::PolicyAuthor::kCaller, {"pypi.org"}};

const bj::NetworkPolicy& outer() {
  static const bj::NetworkPolicy* const made = new bj::NetworkPolicy(*bj::parse_network_policy_text(
      R"({"rules": [{"deny": "8.8.4.0/24"}, {"allow": "*.example"}, {"allow": "8.0.0.0/8", "ports": ["1-1024"]}]})",
      kSource));
  return *made;
}

void check_decisions(const bj::NetworkPolicy& policy) {
  static const char* const kPlaces[] = {"8.8.8.8",   "8.8.4.4",         "1.2.3.4", "2606::1",       "10.0.0.1",
                                        "127.0.0.1", "169.254.169.254", "::1",     "64:ff9b::a00:1"};
  const bj::NetworkPolicy both = bj::narrow(outer(), policy);
  for (const char* text : kPlaces) {
    const auto address = *bj::IpAddress::parse(text);
    for (const auto& name : {std::optional<std::string>(), std::optional<std::string>("a.example")}) {
      for (const uint16_t port : {80, 443, 8080}) {
        const bool inner = !bj::decide_address(policy, {}, name, address, port).denied();
        const bool combined = !bj::decide_address(both, {}, name, address, port).denied();
        require(!inner || bj::kind_of(address) == bj::AddressKind::kPublic);
        require(!combined || (inner && !bj::decide_address(outer(), {}, name, address, port).denied()));
        const bool requested = !bj::decide_http(policy, {name, address, port, "GET", "/v1/x", false}).denied();
        if (bj::kind_of(address) == bj::AddressKind::kPublic) require(!requested || inner);
        require(!policy.allows_nothing() || !inner);
      }
    }
  }
  for (const bj::PortRange& ports : bj::decide_name(policy, "a.example").ports) require(ports.first <= ports.last);
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned random) {
  static const std::vector<std::string> seeds = {
      R"("open")", R"({"preset":"packages"})", R"({"rules":[{"deny":"8.8.0.0/16"},{"allow":["0.0.0.0/0","::/0"]}]})",
      R"({"rules":[{"allow":["*.example","a.example"],"ports":[80,"8000-8100"],"methods":["GET"],"paths":["/v1/*"]}]})",
      R"({"preset":"open","rules":[{"deny":"a.example","methods":["GET"]}],"caps":{"bytes_sent":5,"names":1}})"};
  return bj::fuzz::mutate_from(seeds, data, size, max_size, random);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto policy = bj::parse_network_policy_text({reinterpret_cast<const char*>(data), size}, kSource);
  if (!policy) {
    require(policy.error().code == bj::Code::kInvalid && !policy.error().what.empty());
    return 0;
  }
  const auto again = bj::parse_network_policy_text(boost::json::serialize(bj::to_json(*policy)), kSource);
  require(again && *again == *policy);
  check_decisions(*policy);
  return 0;
}
