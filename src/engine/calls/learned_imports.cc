#include "engine/calls/learned_imports.h"

namespace bj {
namespace {

constexpr int kSeenToLearn = 3;  // calls that imported a module before it is imported for them
constexpr size_t kMaxLearned = 32;
constexpr size_t kMaxSeen = 1024;  // tools may make names up; then counting begins anew
constexpr int kNeverAgain = -1'000'000;

}  // namespace

bool LearnedImports::learn(const std::vector<std::string>& imports) {
  bool something = false;
  for (const std::string& name : imports) {
    if (learned_.size() >= kMaxLearned) break;
    if (seen_.size() >= kMaxSeen) seen_.clear();
    if (learned_.contains(name) || ++seen_[name] < kSeenToLearn) continue;
    learned_.insert(name);
    something = true;
  }
  return something;
}

void LearnedImports::give_up(const std::vector<std::string>& modules) {
  for (const std::string& name : modules) {
    learned_.erase(name);
    seen_[name] = kNeverAgain;
  }
}

std::vector<std::string> LearnedImports::with(std::vector<std::string> preload) const {
  preload.insert(preload.end(), learned_.begin(), learned_.end());
  return preload;
}

}  // namespace bj
