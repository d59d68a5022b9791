#include "engine/sandbox_pool.h"

#include <fmt/format.h>

namespace bj {
namespace {

// What a blank is made from. Environment and user come later, with the processes, except that a rootless sandbox has
// one user for life. A sandbox with mounts of its own is never a blank.
std::string kind_of(const SandboxSpec& spec, bool one_user) {
  const Limits& l = spec.limits;
  std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|", l.memory_bytes, l.processes, l.cpus, l.open_files, l.disk_bytes, l.cpu_ms);
  for (const TemplateLayer& layer : spec.image.layers) key += layer.path + ":" + layer.target + "|";
  key += spec.image.sudo ? "sudo|" : "|";  // a blank of a template with sudo has the socket for it
  return one_user ? key + spec.user : key;
}

}  // namespace

Task<Result<std::shared_ptr<Sandbox>>> SandboxPool::create(SandboxSpec spec) {
  const bool plain = spec.mounts.empty() && spec.root == RootMode::kWritable &&
                     spec.syscalls == SyscallProfile::kTool && spec.caps == kSandboxCaps && !spec.host_network;
  if (ahead_ == 0 || !plain) co_return co_await Sandbox::create(host_, std::move(spec));
  const std::string key = kind_of(spec, !host_.uids);
  Kind& kind = kinds_[key];
  if (kind.spec.image.layers.empty()) {
    kind.spec.image = spec.image;
    kind.spec.limits = spec.limits;
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
  asio::co_spawn(
      host_.executor, [self = shared_from_this(), key]() -> Task<void> { co_await self->fill(key); }, asio::detached);
}

Task<void> SandboxPool::fill(std::string key) {
  Kind& kind = kinds_[key];  // kinds are never erased while one is filling
  while (!stopping_ && kind.blanks.size() < ahead_) {
    Result<std::shared_ptr<Sandbox>> blank = co_await Sandbox::create(host_, kind.spec);
    if (!blank) break;  // whoever asks next makes his own and sees the reason
    kind.blanks.push_back(std::move(*blank));
  }
  kind.filling = false;
  changed_.cancel();
}

void SandboxPool::drop_when_idle() {
  idle_.expires_after(kIdle);
  idle_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->stopping_) return;
    asio::co_spawn(self->host_.executor, [self]() -> Task<void> { co_await self->drop_blanks(); }, asio::detached);
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
      changed_.expires_at(Clock::time_point::max());
      co_await changed_.async_wait(kNoThrow);
    }
  }
}

Task<void> SandboxPool::stop() {
  const auto self = shared_from_this();
  stopping_ = true;
  idle_.cancel();
  for (auto& [key, kind] : kinds_) {
    while (kind.filling) {
      changed_.expires_at(Clock::time_point::max());
      co_await changed_.async_wait(kNoThrow);
    }
  }
  co_await drop_blanks();
}

}  // namespace bj
