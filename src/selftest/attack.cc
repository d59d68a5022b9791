#include "selftest/attack.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "egress/credential_json.h"
#include "egress/policy_json.h"

namespace bj::selftest {
namespace {

constexpr const char* kPolicyRefused = "policy-refused";
constexpr uint64_t kPatienceMs = 30'000;  // for an attack that sets no wall time of its own

using Header = std::map<std::string, std::string>;

tl::unexpected<Error> wrong(const AttackFile& file, const std::string& what) {
  return fail(Code::kInvalid, "attack " + file.name + ": " + what);
}

// "# key: value" lines (in C "// key: value"), up to the first line that is none.
Header read_header(const std::string& text) {
  Header header;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t mark = line.starts_with("# ") ? 2 : line.starts_with("// ") ? 3 : 0;
    const size_t colon = line.find(": ");
    if (mark == 0 || colon == std::string::npos) break;
    header[line.substr(mark, colon - mark)] = line.substr(colon + 2);
  }
  return header;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> out;
  for (std::string word; stream >> word;) out.push_back(word);
  return out;
}

bool set_limit(Limits& limits, const std::string& name, double value) {
  const auto whole = static_cast<uint64_t>(value);
  const std::map<std::string, uint64_t*> known = {
      {"wall_ms", &limits.wall_ms},           {"cpu_ms", &limits.cpu_ms},
      {"processes", &limits.processes},       {"memory_bytes", &limits.memory_bytes},
      {"open_files", &limits.open_files},     {"disk_bytes", &limits.disk_bytes},
      {"return_bytes", &limits.return_bytes}, {"output_bytes", &limits.output_bytes}};
  if (name == "cpus") {
    limits.cpus = value;
    return true;
  }
  const auto found = known.find(name);
  if (found == known.end()) return false;
  *found->second = whole;
  return true;
}

Result<Limits> read_limits(const AttackFile& file, const std::string& text) {
  Limits limits;
  limits.wall_ms = kPatienceMs;
  for (const std::string& word : words(text)) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos ||
        !set_limit(limits, word.substr(0, equals), std::atof(word.c_str() + equals + 1))) {
      return wrong(file, "unknown limit " + word);
    }
  }
  return limits;
}

Result<std::vector<RunAs>> read_runs(const AttackFile& file, const std::string& text) {
  static const std::map<std::string, RunAs> kKnown = {
      {"call", RunAs::kCall}, {"exec", RunAs::kExec}, {"root", RunAs::kRoot}, {"zygote", RunAs::kZygote}};
  std::vector<RunAs> runs;
  for (const std::string& word : words(text)) {
    const auto found = kKnown.find(word);
    if (found == kKnown.end()) return wrong(file, "it can't run as " + word);
    runs.push_back(found->second);
  }
  if (runs.empty()) return wrong(file, "it does not say how it runs");
  return runs;
}

Result<void> read_expectation(const AttackFile& file, const std::string& text, Attack& attack) {
  static const std::map<std::string, std::string> kLimitNames = {{"wall", "wall time"}, {"cpu", "cpu"},
                                                                 {"memory", "memory"},  {"pids", "processes"},
                                                                 {"disk", "disk"},      {"output", "output"}};
  const std::vector<std::string> parts = words(text);
  attack.answer_refused = text == "answer-refused";
  if (text.empty() || attack.answer_refused || text == kPolicyRefused) return {};
  const auto limit = parts.size() == 2 ? kLimitNames.find(parts[1]) : kLimitNames.end();
  if (parts[0] != "killed-by" || limit == kLimitNames.end()) return wrong(file, "unknown expectation " + text);
  attack.killed_by = limit->second;
  return {};
}

Result<std::optional<Then>> read_then(const AttackFile& file, const std::string& text) {
  if (text.empty()) return std::optional<Then>();
  static const std::map<std::string, Then::Verb> kVerbs = {
      {"read", Then::Verb::kRead}, {"write", Then::Verb::kWrite}, {"list", Then::Verb::kList}};
  const std::vector<std::string> parts = words(text);
  const auto verb = parts.size() == 2 ? kVerbs.find(parts[0]) : kVerbs.end();
  if (verb == kVerbs.end()) return wrong(file, "unknown operation " + text);
  return Then{verb->second, parts[1]};
}

// As an administrator writes it: what is not allowed here could be allowed nowhere.
Result<void> read_network(const AttackFile& file, Header& header, Attack& attack) {
  if (!header.contains("network")) return {};
  Result<NetworkPolicy> policy =
      parse_network_policy_text(header["network"], {"attack", PolicyAuthor::kAdministrator, {}});
  const bool refusal_expected = header["expect"] == kPolicyRefused;
  if (!policy && !refusal_expected) return wrong(file, policy.error().what);
  if (!policy) attack.policy_refused = policy.error().what;
  attack.network = policy.value_or(NetworkPolicy());
  attack.event = header["event"];
  return {};
}

Result<void> read_credential(const AttackFile& file, Header& header, Attack& attack) {
  if (!header.contains("credential")) return {};
  Result<GateCredential> bound = parse_credential_binding_text(header["credential"]);
  if (!bound) return wrong(file, bound.error().what);
  bound->name = "attack";
  bound->value = std::make_shared<const Secret>(kCredentialSecret);
  attack.credentials.push_back(std::move(*bound));
  return {};
}

std::string stem_of(const AttackFile& file, const Header& header) {
  std::string stem = file.name.substr(0, file.name.rfind('.'));
  const auto half = header.find("pair");
  if (half == header.end() || !stem.ends_with("_" + half->second)) return stem;
  return stem.substr(0, stem.size() - half->second.size() - 1);
}

Result<Attack> parse_attack(const AttackFile& file, Header& header) {
  Attack attack;
  attack.name = stem_of(file, header);
  attack.title = header["attack"];
  attack.filename = file.name;
  attack.program = file.program;
  const std::string family = header["family"];
  std::from_chars(family.data(), family.data() + family.size(), attack.family);
  if (attack.title.empty() || attack.family == 0) return wrong(file, "it has no title or no family");
  BJ_TRY(attack.runs, read_runs(file, header["runs"]));
  attack.stopped_by = words(header["stopped-by"]);
  if (attack.stopped_by.empty()) return wrong(file, "it does not say what stops it");
  if (attack.stopped_by.front() == "design") attack.stopped_by.clear();
  attack.needs = words(header["needs"]);
  BJ_TRY(attack.limits, read_limits(file, header["limits"]));
  BJ_CHECK(read_expectation(file, header["expect"], attack));
  BJ_TRY(attack.then, read_then(file, header["then"]));
  BJ_CHECK(read_network(file, header, attack));
  BJ_CHECK(read_credential(file, header, attack));
  attack.must_differ = header["compare"] == "must-differ";
  return attack;
}

// "... (looked for)" of a pair's second half says nothing once both are one.
void drop_half_from_title(Attack& attack) {
  if (const size_t at = attack.title.rfind(" ("); at != std::string::npos && !attack.leave.empty())
    attack.title.resize(at);
}

}  // namespace

std::string_view name_of(RunAs run_as) {
  switch (run_as) {
    case RunAs::kCall: return "call";
    case RunAs::kExec: return "exec";
    case RunAs::kRoot: return "root";
    case RunAs::kZygote: return "zygote";
  }
  return "";
}

Result<std::vector<Attack>> parse_attacks(const std::vector<AttackFile>& files) {
  std::map<std::string, Attack> found;
  std::map<std::string, std::string> leaves;
  for (const AttackFile& file : files) {
    Header header = read_header(file.text);
    BJ_TRY(Attack attack, parse_attack(file, header));
    if (header["pair"] == "leave") {
      leaves[attack.name] = file.program;
    } else {
      found[attack.name] = std::move(attack);
    }
  }
  std::vector<Attack> attacks;
  for (auto& [name, attack] : found) {
    if (const auto leave = leaves.find(name); leave != leaves.end()) {
      attack.leave = std::move(leave->second);
      leaves.erase(leave);
      drop_half_from_title(attack);
    }
    attacks.push_back(std::move(attack));
  }
  if (!leaves.empty()) return fail(Code::kInvalid, "attack " + leaves.begin()->first + ": its other half is missing");
  return attacks;
}

std::vector<Attack> filtered(std::vector<Attack> attacks, std::string_view filter) {
  std::erase_if(attacks, [filter](const Attack& attack) {
    return attack.name.find(filter) == std::string::npos &&
           std::find(attack.stopped_by.begin(), attack.stopped_by.end(), filter) == attack.stopped_by.end();
  });
  return attacks;
}

}  // namespace bj::selftest
