// Blank sandboxes made ahead: sealed, with a warden that waits, nothing run in them yet. A create takes one of its kind
// and the pool makes another. How many are kept follows what is asked for (engine/blank_demand.h); of kinds that nobody
// asked for in a while, none. Each is used once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/change.h"
#include "engine/blank_demand.h"
#include "engine/sandbox.h"

namespace bj {

// What a blank is made from, as a key: sandboxes of the same kind can take each other's blanks. Environment and user
// come later, with the processes, except that a rootless sandbox has one user for life; what a gate lets through comes
// later, too. Nothing if there can be no blank.
std::optional<std::string> kind_of(const SandboxSpec& spec, bool one_user);

// Stays on its executor's thread.
class SandboxPool : public std::enable_shared_from_this<SandboxPool> {
 public:
  // `ahead`: blanks kept of each kind at least; 0: none, every sandbox is made when it is asked for.
  SandboxPool(Host& host, size_t ahead) : host_(host), ahead_(ahead), changed_(host.executor), while_(host.executor) {}

  Task<Result<std::shared_ptr<Sandbox>>> create(SandboxSpec spec);
  // Waits until the blanks of every kind in use are there.
  Task<void> settle();
  Task<void> stop();

 private:
  struct Kind {
    Kind(size_t ahead, const asio::any_io_executor& executor) : demand(ahead, kMostBlanks), taken(executor) {}
    SandboxSpec spec;
    std::vector<std::shared_ptr<Sandbox>> blanks;
    BlankDemand demand;
    Clock::time_point taken_at;  // the last one
    Change taken;
    bool filling = false;
  };

  using KindPtr = std::shared_ptr<Kind>;

  KindPtr kind_for(const std::string& key, const SandboxSpec& spec);
  bool lacks_blanks(const Kind& kind) const;
  void refill(const std::string& key);
  Task<void> fill(std::string key);
  Task<void> give_way(Kind& kind);
  void look_back_later();
  Task<void> look_back();
  Task<void> drop_blanks_beyond(size_t kept, Kind& kind);

  static constexpr auto kWhile = std::chrono::seconds(60);
  static constexpr auto kTakersTime = std::chrono::milliseconds(10);  // a create, and the first command in it
  static constexpr size_t kMostBlanks = 100;                          // of all kinds together; each takes some 0.6 MB
  Host& host_;
  size_t ahead_;
  bool stopping_ = false;
  std::map<std::string, KindPtr> kinds_;  // those that somebody asked for lately, or holds
  Change changed_;                        // told when a filling ends
  asio::steady_timer while_;
  bool looking_back_ = false;
};

}  // namespace bj
