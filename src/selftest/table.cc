#include "selftest/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>
#include <tuple>

namespace bj::selftest {
namespace {

void sort_findings(std::vector<Finding>& findings) {
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.family, a.attack, a.run_as) < std::tie(b.family, b.attack, b.run_as);
  });
}

std::string controls_of(const Finding& finding) {
  return finding.stopped_by.empty() ? "design" : fmt::format("{}", fmt::join(finding.stopped_by, "+"));
}

}  // namespace

Counts count(const std::vector<Finding>& findings) {
  Counts counts;
  for (const Finding& finding : findings) {
    switch (finding.verdict.outcome) {
      case Outcome::kHeld: ++counts.held; break;
      case Outcome::kEscaped: ++counts.escaped; break;
      case Outcome::kBroken: ++counts.broken; break;
      case Outcome::kSkipped: ++counts.skipped; break;
    }
  }
  return counts;
}

std::string summary(const Counts& counts) {
  return fmt::format("{} held, {} escaped, {} broken, {} skipped", counts.held, counts.escaped, counts.broken,
                     counts.skipped);
}

std::string table(std::vector<Finding> findings) {
  sort_findings(findings);
  std::string out = fmt::format("{:>6}  {:<26} {:<5} {:<8} {:<22} {}\n", "family", "attack", "runs", "verdict",
                                "controls", "what stopped it");
  for (const Finding& f : findings) {
    out += fmt::format("{:>6}  {:<26} {:<5} {:<8} {:<22} {}\n", f.family, f.attack, name_of(f.run_as),
                       name_of(f.verdict.outcome), controls_of(f), printable(f.verdict.detail, 100));
  }
  return out;
}

std::string to_json(std::vector<Finding> findings, const std::vector<std::string>& left_behind) {
  sort_findings(findings);
  boost::json::array rows;
  for (const Finding& f : findings) {
    rows.push_back({{"family", f.family},
                    {"attack", f.attack},
                    {"title", f.title},
                    {"runs", name_of(f.run_as)},
                    {"verdict", name_of(f.verdict.outcome)},
                    {"stopped_by", boost::json::value_from(f.stopped_by)},
                    {"detail", f.verdict.detail},
                    {"duration_ms", f.duration_ms}});
  }
  const Counts counts = count(findings);
  const boost::json::object report{{"attacks", std::move(rows)}, {"held", counts.held},
                                   {"escaped", counts.escaped},  {"broken", counts.broken},
                                   {"skipped", counts.skipped},  {"left_behind", boost::json::value_from(left_behind)}};
  return boost::json::serialize(report);
}

}  // namespace bj::selftest
