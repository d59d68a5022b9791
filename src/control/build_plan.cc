#include "control/build_plan.h"

#include <algorithm>

#include "engine/import/import_digest.h"

namespace bj {
namespace {

bool writes(const BuildStep& step) { return step.kind == StepKind::kRun || step.kind == StepKind::kCopy; }

bool names_user(const BuildStep& step) {
  return step.kind == StepKind::kUser ||
         (step.kind == StepKind::kRun && step.arguments.size() > 1 && !step.arguments[1].empty());
}

// Lengths in front, so that no two lists of texts are one.
void add(std::string& text, const std::string& part) { text += std::to_string(part.size()) + ":" + part; }

std::string chain_of(const std::string& before, const BuildRequest& request, const BuildGroup& group) {
  std::string text;
  add(text, before);
  for (const size_t place : group.steps) {
    const BuildStep& step = request.steps[place];
    add(text, std::string(step_name(step.kind)));
    add(text, std::to_string(step.arguments.size()));
    for (const std::string& argument : step.arguments) add(text, argument);
    add(text, step.files);
  }
  return sha256_hex(text);
}

}  // namespace

std::vector<BuildGroup> plan_build(const BuildRequest& request, const std::string& beginning, size_t most_groups) {
  const auto writers = static_cast<size_t>(
      std::count_if(request.steps.begin(), request.steps.end(), [](const auto& s) { return writes(s); }));
  const size_t together = std::max<size_t>(1, (writers + most_groups - 1) / std::max<size_t>(1, most_groups));
  std::vector<BuildGroup> groups;
  size_t written = 0;
  for (size_t i = 0; i < request.steps.size(); ++i) {
    const BuildStep& step = request.steps[i];
    const bool full = written >= together && writes(step);
    const bool fresh = groups.empty() || full || (written > 0 && (names_user(step) || step.force));
    if (fresh) {
      groups.emplace_back();
      written = 0;
    }
    groups.back().steps.push_back(i);
    if (writes(step)) ++written;
  }
  std::string before = beginning;
  bool force = request.force;
  for (BuildGroup& group : groups) {
    for (const size_t place : group.steps) force = force || request.steps[place].force;
    group.force = force;
    group.chain = chain_of(before, request, group);
    before = group.chain;
  }
  return groups;
}

}  // namespace bj
