// What is true after a restart. Sandboxes that have outlived the server before this one are adopted, with everything in
// them; the rest is lost, and told so once. Commands that nobody has finished are taken up again by the queue.
#include <set>

#include "base/log.h"
#include "control/sandbox_manager.h"
#include "control/sandbox_steps.h"

namespace bj {
namespace {

constexpr const char* kServerGone = "the server ended, and the sandbox with it";
constexpr const char* kTimeOver = "its time was over";

bool time_was_over(const SandboxRow& row, int64_t now) {
  const int64_t end = end_without_server(row);
  return end != 0 && end <= now;
}

}  // namespace

Task<Result<void>> SandboxManager::reconcile() {
  const int64_t time = now();
  const std::string why = host_.why_lost();
  const std::string reason = why.empty() ? kServerGone : why;
  struct Found {
    std::vector<SandboxRow> lost, own;
  };
  const auto work = [&]() -> Result<Found> {
    Found found;
    BJ_TRY(const std::vector<SandboxRow> rows, sandboxes_.held());
    std::map<std::string, bool> dead;
    for (const SandboxRow& row : rows) {
      if (*row.node == options_.node) {
        found.own.push_back(row);
      } else if (!dead.contains(*row.node)) {
        dead[*row.node] = options_.node_is_dead(*row.node);
      }
    }
    for (const auto& [node, is_dead] : dead) {
      if (!is_dead) continue;
      BJ_TRY(const std::vector<SandboxRow> its, sandboxes_.abandon(node, reason, time));
      found.lost.insert(found.lost.end(), its.begin(), its.end());
    }
    BJ_CHECK(sandboxes_.give_back(options_.node));
    return found;
  };
  BJ_CO_TRY(Found found, co_await offload(threads_, work));
  for (const SandboxRow& row : found.lost) tell_lost(row, time_was_over(row, time) ? kTimeOver : reason);
  co_await adopt_kept(std::move(found.own));
  co_await collect_left_over();
  (void)co_await audit_.flush();  // told once: whoever comes after the next kill would not tell it again
  co_return Result<void>();
}

// A sandbox whose making was not concluded is made again; what there is of it goes. One that is stopping is ended by
// the command that wanted it.
Task<void> SandboxManager::adopt_kept(std::vector<SandboxRow> rows) {
  const std::vector<std::string> ids = host_.kept();
  const std::set<std::string> kept(ids.begin(), ids.end());
  for (const SandboxRow& row : rows) {
    const SandboxState state = state_in(row);
    if (state == SandboxState::kCreating || held_.contains(row.id)) continue;
    if (kept.contains(row.id)) {
      co_await adopt(row);
    } else if (state != SandboxState::kStopping) {
      co_await lose(row, time_was_over(row, now()) ? kTimeOver : kServerGone);
    }
  }
  host_.settle_kept();
}

Task<void> SandboxManager::adopt(SandboxRow row) {
  const std::string stamp = network_stamp(row.organization);  // not newer than what it will have
  Result<std::shared_ptr<LiveSandbox>> live = co_await host_.take_up(row);
  if (!live) {
    const std::string reason = time_was_over(row, now()) ? kTimeOver : live.error().what;
    log_warning("sandbox_not_adopted", {{"sandbox", row.id}, {"why", live.error().what}});
    if (state_in(row) != SandboxState::kStopping) co_await lose(row, reason);
    co_return;
  }
  const auto sandbox = std::make_shared<HeldSandbox>(executor_);
  sandbox->row = row;
  sandbox->live = *live;
  sandbox->network_stamp = stamp;
  sandbox->log.add(now(), "info", "the server was started again, the sandbox went on");
  hold(sandbox);
  receipt(owner_of(row), "sandbox.adopted", row, "success");
}

void SandboxManager::hold(const std::shared_ptr<HeldSandbox>& sandbox) {
  const SandboxRow& row = sandbox->row;
  held_[row.id] = sandbox;
  keep_end_of(*sandbox);
  run([this, sandbox] { return watch(sandbox); });
}

void SandboxManager::keep_end_of(const HeldSandbox& sandbox) {
  const SandboxRow& row = sandbox.row;
  const auto found = held_.find(row.id);
  if (found == held_.end() || found->second.get() != &sandbox) return;  // over, or another of its lives
  sandbox.live->keep_until(end_without_server(row));
  if (state_in(row) == SandboxState::kRunning) {
    deadlines_.set(row.id, row.end_at);
  } else {
    deadlines_.forget(row.id);
  }
  wake_.cancel();
}

Task<void> SandboxManager::lose(SandboxRow row, std::string reason) {
  const int64_t time = now();
  const auto edit = [&](Transaction& transaction, SandboxRow& current) -> Result<void> {
    if (is_live(state_in(current))) BJ_CHECK(step(current, LifeEvent::kEnded, reason, time));
    if (!current.spare_image.empty()) {  // it was paused, and its files are on disk
      current.image = std::exchange(current.spare_image, {});
      current.kept = true;
    }
    return CommandTable::bury_all_of(transaction, current.id, reason, time);
  };
  const Result<SandboxRow> lost = co_await change(row.organization, row.id, edit);
  if (!lost) log_error("sandbox_not_settled", {{"sandbox", row.id}, {"error", lost.error().what}});
  tell_lost(row, reason);
}

void SandboxManager::tell_lost(const SandboxRow& row, const std::string& reason) {
  if (reason == kTimeOver) return receipt(owner_of(row), "sandbox.stop", row, "success", {{"reason", reason}});
  receipt(owner_of(row), "sandbox.lost", row, "error", {{"error", reason}});
}

}  // namespace bj
