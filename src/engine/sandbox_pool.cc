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
  Kind& kind = kinds_[key];
  if (kind.spec.image.layers.empty()) {
    kind.spec.image = spec.image;
    kind.spec.limits = spec.limits;
    kind.spec.gated = wants_gate(spec);
    kind.spec.user = host_.uids ? "" : spec.user;
  }
  drop_when_idle();
  while (!kind.blanks.empty()) {
    std::shared_ptr<Sandbox> blank = std::move(kind.blanks.back());
    kind.blanks.pop_back();
    refill(key);
    const Result<void> adopted = blank->adopt(spec);
    if (adopted) co_return blank;
    co_await blank->destroy();
    if (adopted.error().code != Code::kInternal) co_return tl::unexpected(adopted.error());
  }
  Result<std::shared_ptr<Sandbox>> fresh = co_await Sandbox::create(host_, std::move(spec));
  refill(key);
  co_return fresh;
}

void SandboxPool::refill(const std::string& key) {
  Kind& kind = kinds_[key];
  if (kind.filling || stopping_ || kind.blanks.size() >= ahead_) return;
  kind.filling = true;
  // Whoever took a blank goes on first: making another one begins when he waits for something, his row in the database.
  asio::post(host_.executor, [self = shared_from_this(), key] {
    spawn(self->host_.executor, [self, key]() -> Task<void> { co_await self->fill(key); });
  });
}

Task<void> SandboxPool::fill(std::string key) {
  Kind& kind = kinds_[key];  // kinds are never erased while one is filling
  while (!stopping_ && kind.blanks.size() < ahead_) {
    Result<std::shared_ptr<Sandbox>> blank = co_await Sandbox::create(host_, kind.spec);
    if (!blank) break;  // whoever asks next makes his own and sees the reason
    kind.blanks.push_back(std::move(*blank));
  }
  kind.filling = false;
  changed_.tell();
}

void SandboxPool::drop_when_idle() {
  idle_.expires_after(kIdle);
  idle_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->stopping_) return;
    spawn(self->host_.executor, [self]() -> Task<void> { co_await self->drop_blanks(); });
  });
}

Task<void> SandboxPool::drop_blanks() {
  for (auto& [key, kind] : kinds_) {
    while (!kind.blanks.empty()) {
      const std::shared_ptr<Sandbox> blank = std::move(kind.blanks.back());
      kind.blanks.pop_back();
      co_await blank->destroy();
    }
  }
}

Task<void> SandboxPool::settle() {
  for (auto& [key, kind] : kinds_) {
    refill(key);
    while (kind.filling) {
      co_await changed_.wait();
    }
  }
}

Task<void> SandboxPool::stop() {
  const auto self = shared_from_this();
  stopping_ = true;
  idle_.cancel();
  for (auto& [key, kind] : kinds_) {
    while (kind.filling) {
      co_await changed_.wait();
    }
  }
  co_await drop_blanks();
}

}  // namespace bj
