#include "engine/process_table.h"

#include <algorithm>

namespace bj {

Task<Result<std::shared_ptr<LiveProcess>>> ProcessTable::start(ProcessSpec spec, LiveProcessOptions options) {
  const ProcessSpec kept = spec;
  BJ_CO_TRY(Process process, co_await sandbox_->start(std::move(spec)));
  auto live = LiveProcess::adopt(executor_, std::move(process), kept, std::move(options));
  processes_[live->pid()] = live;  // an ended one of the same pid makes room: the kernel uses numbers again
  forget_oldest();
  co_return live;
}

void ProcessTable::forget_oldest() {
  std::vector<std::shared_ptr<LiveProcess>> ended;
  for (const auto& [pid, process] : processes_) {
    if (process->over()) ended.push_back(process);
  }
  if (ended.size() <= kMostEnded) return;
  const auto older = [](const auto& a, const auto& b) { return a->started() < b->started(); };
  processes_.erase((*std::min_element(ended.begin(), ended.end(), older))->pid());
}

Result<std::shared_ptr<LiveProcess>> ProcessTable::find(int pid) const {
  const auto found = processes_.find(pid);
  if (found != processes_.end()) return found->second;
  return fail(Code::kNotFound, "process with pid " + std::to_string(pid) + " not found");
}

Result<std::shared_ptr<LiveProcess>> ProcessTable::find_by_tag(const std::string& tag) const {
  std::shared_ptr<LiveProcess> newest;
  for (const auto& [pid, process] : processes_) {
    if (process->tag() == tag && (!newest || process->started() > newest->started())) newest = process;
  }
  if (newest) return newest;
  return fail(Code::kNotFound, "process with tag " + tag + " not found");
}

std::vector<std::shared_ptr<LiveProcess>> ProcessTable::all() const {
  std::vector<std::shared_ptr<LiveProcess>> list;
  for (const auto& [pid, process] : processes_) list.push_back(process);
  return list;
}

Task<Result<void>> ProcessTable::signal(int pid, int signal) {
  BJ_CO_TRY(const std::shared_ptr<LiveProcess> process, find(pid));
  if (process->over()) co_return fail(Code::kConflict, "process " + std::to_string(pid) + " has ended");
  co_return co_await sandbox_->signal_group(pid, signal);
}

}  // namespace bj
