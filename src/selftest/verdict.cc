#include "selftest/verdict.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <csignal>

namespace bj::selftest {
namespace {

constexpr size_t kMostErrorText = 512 * 1024;

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// The limits whose touch the attack itself sees as an error and can survive; the others must stop it.
bool felt_inside(const std::string& limit) { return limit == "processes" || limit == "disk" || limit == "memory"; }

Verdict judge_limit(const Attack& attack, const std::vector<std::string>& hit, const std::optional<Verdict>& said) {
  if (said && said->outcome != Outcome::kHeld) return *said;
  if (contains(hit, attack.killed_by)) return {Outcome::kHeld, "stopped by its limit: " + attack.killed_by};
  if (said && felt_inside(attack.killed_by)) return *said;
  return {Outcome::kEscaped, "the limit \"" + attack.killed_by + "\" was not reported"};
}

constexpr const char* kHoldsCredential = "the value of a credential came into the sandbox";

bool holds_credential(const std::string& text) { return text.find(kCredentialSecret) != std::string::npos; }

std::string last_line(const std::string& output) {
  const size_t end = output.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const size_t begin = output.rfind('\n', end);
  return output.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? -1 : begin));
}

int expected_status(const Verdict& said) {
  switch (said.outcome) {
    case Outcome::kHeld: return 0;
    case Outcome::kEscaped: return 42;
    default: return 43;
  }
}

std::string end_of(const ProgramEnd& end) {
  if (!end.status) return "the sandbox ended";
  if (WIFSIGNALED(*end.status)) return fmt::format("killed by signal {}", WTERMSIG(*end.status));
  return fmt::format("exit status {}", WEXITSTATUS(*end.status));
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kHeld: return "held";
    case Outcome::kEscaped: return "ESCAPED";
    case Outcome::kBroken: return "BROKEN";
    case Outcome::kSkipped: return "skipped";
  }
  return "";
}

std::string printable(const std::string& text, size_t limit) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= limit) return out + "...";
    out += c >= ' ' && c < 0x7f ? c : c == '\n' ? ' ' : '?';
  }
  return out;
}

std::optional<Verdict> spoken(const std::string& text) {
  static constexpr std::array<std::pair<std::string_view, Outcome>, 4> kWords = {{{"HELD: ", Outcome::kHeld},
                                                                                  {"ESCAPED: ", Outcome::kEscaped},
                                                                                  {"BROKEN: ", Outcome::kBroken},
                                                                                  {"VALUE: ", Outcome::kHeld}}};
  for (const auto& [word, outcome] : kWords) {
    if (text.starts_with(word)) return Verdict{outcome, printable(text.substr(word.size()))};
  }
  return {};
}

Verdict judge_call(const Attack& attack, const CallResult& result) {
  std::optional<Verdict> said;
  if (result.status == CallStatus::kOk && result.value.is_string())
    said = spoken(std::string(result.value.get_string()));
  if (result.output.size() > attack.limits.output_bytes || result.error_output.size() > attack.limits.output_bytes) {
    return {Outcome::kEscaped, "more output came back than the limit allows"};
  }
  if (result.error.message.size() + result.error.name.size() > kMostErrorText) {
    return {Outcome::kEscaped, "the error that the caller is told has no bounds"};
  }
  if (result.error.message.find("could not be sealed") != std::string::npos) {
    return {Outcome::kEscaped, "the tool speaks as the platform: " + printable(result.error.message, 80)};
  }
  if (holds_credential(result.output + result.error_output + boost::json::serialize(result.value)))
    return {Outcome::kEscaped, kHoldsCredential};
  const std::string error = printable(result.error.name + ": " + result.error.message);
  if (!attack.killed_by.empty()) return judge_limit(attack, result.limits_hit, said);
  if (attack.answer_refused) {
    if (result.status == CallStatus::kOk) return {Outcome::kEscaped, "a forged answer was accepted"};
    return {Outcome::kHeld, "answered with " + error};
  }
  if (said) return *said;
  return {Outcome::kBroken,
          std::string("no verdict; the call ended with ") + status_name(result.status) + ", " + error};
}

Verdict judge_program(const Attack& attack, const ProgramEnd& end) {
  if (end.output.size() > attack.limits.output_bytes || end.error_output.size() > attack.limits.output_bytes) {
    return {Outcome::kEscaped, "more output came back than the limit allows"};
  }
  if (holds_credential(end.output + end.error_output)) return {Outcome::kEscaped, kHoldsCredential};
  const std::optional<Verdict> said = spoken(last_line(end.output));
  if (!attack.killed_by.empty()) return judge_limit(attack, end.limits_hit, said);
  if (end.status && WIFSIGNALED(*end.status) && WTERMSIG(*end.status) == SIGSYS) {
    return {Outcome::kHeld, "killed by the system call filter"};
  }
  if (!said) return {Outcome::kBroken, "no verdict; " + end_of(end) + ": " + printable(last_line(end.error_output))};
  if (!end.status || !WIFEXITED(*end.status) || WEXITSTATUS(*end.status) != expected_status(*said)) {
    return {Outcome::kBroken, "it said \"" + said->detail + "\" and ended otherwise: " + end_of(end)};
  }
  return *said;
}

Verdict judge_difference(const Verdict& first, const Verdict& second) {
  if (first.outcome != Outcome::kHeld) return first;
  if (second.outcome != Outcome::kHeld) return second;
  if (first.detail == second.detail) return {Outcome::kEscaped, "twice the same: " + first.detail};
  return {Outcome::kHeld, "two different values"};
}

}  // namespace bj::selftest
