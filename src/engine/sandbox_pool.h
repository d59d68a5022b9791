// Blank sandboxes made ahead: sealed, with a warden that waits, nothing run in them yet. A create takes one of its kind
// and the pool makes another; kinds nobody asked for in a while are dropped. Each is used once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/change.h"
#include "engine/sandbox.h"

namespace bj {

// What a blank is made from, as a key: sandboxes of the same kind can take each other's blanks. Environment and user
// come later, with the processes, except that a rootless sandbox has one user for life; what a gate lets through comes
// later, too. Nothing if there can be no blank.
std::optional<std::string> kind_of(const SandboxSpec& spec, bool one_user);

// Stays on its executor's thread.
class SandboxPool : public std::enable_shared_from_this<SandboxPool> {
 public:
  // `ahead`: blanks kept of each kind; 0: none, every sandbox is made when it is asked for.
  SandboxPool(Host& host, size_t ahead) : host_(host), ahead_(ahead), changed_(host.executor), idle_(host.executor) {}

  Task<Result<std::shared_ptr<Sandbox>>> create(SandboxSpec spec);
  // Waits until the blanks of every kind in use are there.
  Task<void> settle();
  Task<void> stop();

 private:
  struct Kind {
    SandboxSpec spec;
    std::vector<std::shared_ptr<Sandbox>> blanks;
    bool filling = false;
  };

  void refill(const std::string& key);
  Task<void> fill(std::string key);
  void drop_when_idle();
  Task<void> drop_blanks();

  static constexpr auto kIdle = std::chrono::seconds(60);
  Host& host_;
  size_t ahead_;
  bool stopping_ = false;
  std::map<std::string, Kind> kinds_;
  Change changed_;  // told when a filling ends
  asio::steady_timer idle_;
};

}  // namespace bj
