#include "engine/sandbox_pool.h"

#include <fmt/format.h>

namespace bj {
namespace {

bool wants_gate(const SandboxSpec& spec) { return spec.gated || !spec.network.allows_nothing(); }

}  // namespace

std::optional<std::string> kind_of(const SandboxSpec& spec, bool one_user) {
  const bool plain = spec.kept_ahead && spec.mounts.empty() && spec.root == RootMode::kWritable &&
                     spec.syscalls == SyscallProfile::kTool && spec.caps == kSandboxCaps;
  if (!plain) return std::nullopt;
  const Limits& l = spec.limits;
  // A blank of a template with sudo has the socket for it. Paths end with a character that they can't contain.
  std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|", l.memory_bytes, l.processes, l.cpus, l.open_files,
                                l.disk_bytes, l.cpu_ms, spec.image.sudo ? "sudo" : "", wants_gate(spec) ? "gate" : "");
  for (const TemplateLayer& layer : spec.image.layers) key.append(layer.path + '\0').append(layer.target + '\0');
  if (one_user) key.append(1, '\0').append(spec.user.empty() ? spec.image.user : spec.user);
  return key;
}

Task<Result<std::shared_ptr<Sandbox>>> SandboxPool::create(SandboxSpec spec) {
  const std::optional<std::string> found = kind_of(spec, !host_.uids);
  if (ahead_ == 0 || !found) co_return co_await Sandbox::create(host_, std::move(spec));
  const std::string& key = *found;
  const KindPtr held = kind_for(key, spec);
  Kind& kind = *held;
  look_back_later();
  while (!kind.blanks.empty()) {
    std::shared_ptr<Sandbox> blank = std::move(kind.blanks.back());
    kind.blanks.pop_back();
    kind.demand.taken(kind.blanks.size());
    kind.taken_at = Clock::now();
    kind.taken.tell();
    refill(key);
    const Result<void> adopted = blank->adopt(spec);
    if (adopted) co_return blank;
    co_await blank->destroy();
    if (adopted.error().code != Code::kInternal) co_return tl::unexpected(adopted.error());
  }
  kind.demand.missed();
  Result<std::shared_ptr<Sandbox>> fresh = co_await Sandbox::create(host_, std::move(spec));
  refill(key);
  co_return fresh;
}

SandboxPool::KindPtr SandboxPool::kind_for(const std::string& key, const SandboxSpec& spec) {
  KindPtr& kind = kinds_[key];
  if (!kind) {
    kind = std::make_shared<Kind>(ahead_, host_.executor);
    kind->spec.image = spec.image;
    kind->spec.limits = spec.limits;
    kind->spec.gated = wants_gate(spec);
    kind->spec.user = host_.uids ? "" : spec.user;
  }
  return kind;
}

bool SandboxPool::lacks_blanks(const Kind& kind) const {
  if (stopping_ || kind.blanks.size() >= kind.demand.wanted()) return false;
  size_t all = 0;
  for (const auto& [key, other] : kinds_) all += other->blanks.size();
  return all < kMostBlanks;
}

// Its kind is there: whoever calls holds it.
void SandboxPool::refill(const std::string& key) {
  Kind& kind = *kinds_.at(key);
  if (kind.filling || !lacks_blanks(kind)) return;
  kind.filling = true;
  // Whoever took a blank goes on first: making another one begins when he waits for something, his row in the database.
  asio::post(host_.executor, [self = shared_from_this(), key] {
    spawn(self->host_.executor, [self, key]() -> Task<void> { co_await self->fill(key); });
  });
}

// Making a blank takes a processor for as long as a create and a command together. Whoever just took one wants to run
// something in it, and the others of his burst want theirs: while blanks are left, they go first.
Task<void> SandboxPool::give_way(Kind& kind) {
  while (!stopping_ && kind.demand.can_wait(kind.blanks.size()) && Clock::now() < kind.taken_at + kTakersTime) {
    co_await kind.taken.wait_until(kind.taken_at + kTakersTime);
  }
}

Task<void> SandboxPool::fill(std::string key) {
  const KindPtr held = kinds_.at(key);  // which is filling, so it stayed
  Kind& kind = *held;
  while (lacks_blanks(kind)) {
    co_await give_way(kind);
    if (!lacks_blanks(kind)) break;
    Result<std::shared_ptr<Sandbox>> blank = co_await Sandbox::create(host_, kind.spec);
    if (!blank) break;  // whoever asks next makes his own and sees the reason
    kind.blanks.push_back(std::move(*blank));
  }
  kind.filling = false;
  changed_.tell();
}

void SandboxPool::look_back_later() {
  if (std::exchange(looking_back_, true)) return;
  while_.expires_after(kWhile);
  while_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->stopping_) return;
    spawn(self->host_.executor, [self]() -> Task<void> { co_await self->look_back(); });
  });
}

Task<void> SandboxPool::look_back() {
  looking_back_ = false;
  for (const auto& [key, kind] : std::map(kinds_)) {
    kind->demand.look_back(kind->blanks.size());
    co_await drop_blanks_beyond(kind->demand.wanted(), *kind);
    if (kind->demand.wanted() > 0) look_back_later();
  }
  std::erase_if(kinds_, [](const auto& item) {
    const KindPtr& kind = item.second;
    return kind->demand.wanted() == 0 && kind->blanks.empty() && !kind->filling && kind.use_count() == 1;
  });
}

Task<void> SandboxPool::drop_blanks_beyond(size_t kept, Kind& kind) {
  while (kind.blanks.size() > kept) {
    const std::shared_ptr<Sandbox> blank = std::move(kind.blanks.back());
    kind.blanks.pop_back();
    co_await blank->destroy();
  }
}

Task<void> SandboxPool::settle() {
  for (const auto& [key, kind] : std::map(kinds_)) {
    refill(key);
    while (kind->filling) {
      co_await changed_.wait();
    }
  }
}

Task<void> SandboxPool::stop() {
  const auto self = shared_from_this();
  stopping_ = true;
  while_.cancel();
  for (const auto& [key, kind] : std::map(kinds_)) {
    kind->taken.tell();
    while (kind->filling) {
      co_await changed_.wait();
    }
    co_await drop_blanks_beyond(0, *kind);
  }
}

}  // namespace bj
