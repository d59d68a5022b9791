#include "egress/policy_lists.h"

#include <algorithm>

#include "egress/target_text.h"

namespace bj {
namespace {

constexpr size_t kMaxEntries = 100;
constexpr size_t kMaxAllowList = 10;

NetworkPolicy one_layer(PolicyLayer layer) { return {{std::move(layer)}, {}, {}}; }

bool is_everything(const Target& target) { return target.kind == Target::Kind::kRange && target.range.prefix == 0; }
bool is_range(const Target& target) { return target.kind == Target::Kind::kRange; }

Result<std::vector<Target>> targets_of(const std::vector<std::string>& texts, const std::string& where) {
  std::vector<Target> targets;
  if (texts.size() > kMaxEntries) return fail(Code::kInvalid, where + " has more than 100 entries");
  for (const std::string& text : texts) {
    auto target = parse_target_text(text);
    if (!target) return fail(Code::kInvalid, where + ": " + target.error().what);
    targets.push_back(std::move(*target));
  }
  return targets;
}

// Names on the ports of the web, addresses on all.
void add_allowed(const std::vector<Target>& targets, PolicyLayer& layer) {
  NetworkRule names{NetworkRule::Action::kAllow, {}, {{80, 80}, {443, 443}}, {}, {}};
  NetworkRule ranges{NetworkRule::Action::kAllow, {}, {PortRange{}}, {}, {}};
  for (const Target& target : targets) (is_range(target) ? ranges : names).targets.push_back(target);
  if (!names.targets.empty()) layer.rules.push_back(std::move(names));
  if (!ranges.targets.empty()) layer.rules.push_back(std::move(ranges));
}

// "a, b": without spaces around; the empty text is an empty list.
std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  if (text.find_first_not_of(' ') == text.npos) return parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.emplace_back(part);
    begin = end + 1;
  }
  return parts;
}

enum class Wanted { kRanges, kNames };

Result<void> add_allow_list(const std::string& text, Wanted wanted, const std::string& where, PolicyLayer& layer) {
  const std::vector<std::string> parts = split_at_commas(text);
  if (parts.size() > kMaxAllowList) return fail(Code::kInvalid, where + " has more than 10 entries");
  BJ_TRY(const std::vector<Target> targets, targets_of(parts, where));
  for (const Target& target : targets) {
    const bool fits = wanted == Wanted::kRanges ? is_range(target) && !target.range.base.is_v6 : !is_range(target);
    if (!fits)
      return fail(Code::kInvalid, where + ": \"" + target.text() + "\" is no " +
                                      (wanted == Wanted::kRanges ? "range of IPv4" : "domain name"));
  }
  add_allowed(targets, layer);
  return {};
}

}  // namespace

NetworkPolicy policy_of_internet_flag(std::optional<bool> internet_access, std::string origin) {
  const NetworkPreset preset = internet_access.value_or(false) ? NetworkPreset::kOpen : NetworkPreset::kNone;
  return one_layer(preset_layer(preset, std::move(origin), {}));
}

Result<NetworkPolicy> policy_of_outbound_lists(const OutboundLists& lists, std::string origin) {
  BJ_TRY(const std::vector<Target> allowed, targets_of(lists.allow_out, "allowOut"));
  BJ_TRY(std::vector<Target> denied, targets_of(lists.deny_out, "denyOut"));
  if (!std::all_of(denied.begin(), denied.end(), is_range))
    return fail(Code::kInvalid, "denyOut takes addresses and ranges only, no names");
  const bool all_denied = lists.internet_access == false || std::any_of(denied.begin(), denied.end(), is_everything);
  if (!all_denied && !std::all_of(allowed.begin(), allowed.end(), is_range))
    return fail(Code::kInvalid,
                "a name in allowOut needs \"0.0.0.0/0\" in denyOut: without it everything else stays open");
  NetworkPreset rest = lists.internet_access ? NetworkPreset::kOpen : lists.unsaid;
  if (all_denied) rest = NetworkPreset::kNone;
  // Spelled out, and allowing beats denying: then names must resolve as well.
  if (std::any_of(allowed.begin(), allowed.end(), is_everything)) rest = NetworkPreset::kOpen;
  PolicyLayer layer = preset_layer(rest, std::move(origin), {});
  add_allowed(allowed, layer);
  if (!denied.empty()) layer.rules.push_back({NetworkRule::Action::kDeny, std::move(denied), {PortRange{}}, {}, {}});
  return one_layer(std::move(layer));
}

Result<NetworkPolicy> policy_of_allow_lists(const AllowLists& lists, std::string origin) {
  const bool listed = lists.network_allow_list || lists.domain_allow_list;
  PolicyLayer layer =
      preset_layer(listed || lists.block_all ? NetworkPreset::kNone : lists.unsaid, std::move(origin), {});
  if (lists.network_allow_list)
    BJ_CHECK(add_allow_list(*lists.network_allow_list, Wanted::kRanges, "networkAllowList", layer));
  if (lists.domain_allow_list)
    BJ_CHECK(add_allow_list(*lists.domain_allow_list, Wanted::kNames, "domainAllowList", layer));
  if (lists.block_all) layer.rules.clear();
  return one_layer(std::move(layer));
}

}  // namespace bj
