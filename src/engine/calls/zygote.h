// A zygote: an interpreter with its imports done, in a sandbox of its own, that forks sealed single-use children. It
// never runs a tool's code.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "engine/calls/call.h"
#include "engine/calls/channel.h"
#include "engine/calls/zygote_wire.h"
#include "engine/packets.h"
#include "engine/sandbox.h"

namespace bj {

// Where a child waits for its call: the earlier its copy-on-write faults are taken, the quicker it answers and the more
// memory it has of its own.
enum class Readiness : uint8_t {
  kLazy,  // in C, nothing of the interpreter touched yet
  kWarm,  // after one dry call
};

class Zygote;

// A forked child, sealed or about to be.
class Child : public Runner {
 public:
  Child(std::shared_ptr<Zygote> zygote, LeasedGroup group, uint32_t id, uint32_t uid);
  ~Child() override;
  void kill() override;
  Task<void> bury() override;
  CgroupUsage used() const override;
  std::optional<int> exit_status() const override { return exit_status_; }
  const Seal& seal() const override;
  // The zygote has told the child's pid.
  void born(Fd pidfd);
  void stillborn(int error);
  Task<Result<void>> born();
  Readiness readiness = Readiness::kLazy;

 private:
  std::shared_ptr<Zygote> zygote_;
  LeasedGroup group_;
  uint32_t id_;
  uint32_t uid_;
  bool killed_ = false;
  std::unique_ptr<asio::posix::stream_descriptor> pidfd_;
  OneShot<int> birth_;
  int birth_error_ = -1;
  CgroupUsage last_used_;
  std::optional<int> exit_status_;
};

class Zygote : public std::enable_shared_from_this<Zygote> {
 public:
  // With a gate its children stay in the zygote's own network namespace, which belongs to the launcher: there must be
  // one child only.
  static Task<Result<std::shared_ptr<Zygote>>> start(Host& host, EnvironmentSpec spec, Limits limits,
                                                     std::vector<std::string> preload, RunnerNetwork network);
  ~Zygote();

  // Asks for a child and returns it before it exists: what is written to its channel waits for it.
  Result<std::shared_ptr<Child>> fork(Readiness readiness);
  Result<void> open_network(const CallSpec& spec, GateListener listener);
  void close_network() { sandbox_->close_network(); }
  // With everything that came from it.
  void kill() { sandbox_->kill(); }
  Task<void> stop();
  bool gone() const { return gone_; }
  const Seal& seal() const { return seal_; }
  const std::vector<std::string>& failed_imports() const { return failed_imports_; }
  Host& host() { return host_; }

 private:
  friend class Child;
  Zygote(Host& host, EnvironmentSpec spec, Limits limits, RunnerNetwork network)
      : host_(host), spec_(std::move(spec)), limits_(limits), network_(network), fork_watch_(host.executor) {}
  Task<Result<void>> run(std::vector<std::string> preload);
  Result<void> send_plan();
  Result<void> send_request(const zygote::ForkRequest& request, const std::vector<int>& descriptors);
  void tell_buried(uint32_t id);
  void report_network();
  void on_packet(std::string_view bytes, std::vector<Fd> descriptors);
  void on_closed();
  void watch_forks();
  uint32_t take_uid();

  Host& host_;
  EnvironmentSpec spec_;
  Limits limits_;
  RunnerNetwork network_;
  Seal seal_;
  // Of its children's groups: what it imports may keep the files by which they are joined. Gone when the sandbox is.
  std::shared_ptr<const void> group_holder_ = std::make_shared<char>();
  std::shared_ptr<Sandbox> sandbox_;
  Process process_;
  std::shared_ptr<PacketSocket> control_;
  std::shared_ptr<OneShot<std::string>> hello_;
  std::vector<std::string> failed_imports_;
  bool greeted_ = false;  // its first message is its report
  bool gone_ = false;
  uint32_t last_id_ = 0;
  uint32_t next_uid_ = 0;
  struct Unborn {
    std::weak_ptr<Child> child;
    Clock::time_point since;
  };
  std::map<uint32_t, Unborn> unborn_;  // the oldest first
  Clock::time_point last_reply_;
  asio::steady_timer fork_watch_;
  bool watching_forks_ = false;
  std::map<uint32_t, bool> uids_;  // in use
};

}  // namespace bj
