// The engine's side of a warden: requests that make descriptors come out of a sandbox. Everything that comes back is
// hostile: it is decoded with bounds, and descriptors are only handed on after their type was checked.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/change.h"
#include "engine/packets.h"
#include "warden/wire.h"

namespace bj {

struct ExitReport {
  int status = 0;  // as wait(2)
  uint64_t user_us = 0, system_us = 0, max_rss_kb = 0;
};

// Who writes down what becomes of a process. Each is called before the warden's message is out of the queue, so that no
// message is lost with this process.
class SpawnWitness {
 public:
  virtual ~SpawnWitness() = default;
  virtual void asked(uint32_t request) = 0;               // the warden will be asked next
  virtual void started(int pid, const Fd& terminal) = 0;  // empty: it has none
  virtual void failed() = 0;                              // to start
  virtual void exited(const ExitReport& report) = 0;
};

struct SpawnRequest {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value"
  std::string directory = "/";
  uid_t uid = 0;
  gid_t gid = 0;
  bool terminal = false;
  bool no_input = false;  // stdin is the sandbox's /dev/null
  uint16_t rows = 24, columns = 80;
  std::vector<int> descriptors;  // stdin, stdout, stderr (without a terminal), then 3, 4, ...
  std::shared_ptr<SpawnWitness> witness;
};

using ExitWaiter = std::shared_ptr<OneShot<ExitReport>>;

struct SpawnReply {
  int pid = 0;
  Fd terminal;
  ExitWaiter exit;
};

enum class FileType { kRegular, kDirectory, kAny };

// Whoever waits for an answer keeps it alive; after close() every request fails, as after the sandbox's end.
class WardenClient : public std::enable_shared_from_this<WardenClient> {
 public:
  // `patience`: a warden that has not answered by then does not answer.
  WardenClient(const asio::any_io_executor& executor, Fd socket, Clock::duration patience = std::chrono::seconds(10));
  ~WardenClient() { close(); }
  void close();

  // From now on no message of the warden is lost with this process: see SpawnWitness.
  void be_careful() { socket_->take_after_handling(); }
  // For one whose sandbox was another process's before: answers to what that one asked are not taken for ours.
  void go_on(uint32_t first_id) { last_id_ = first_id; }
  // Of processes that were started, or asked for, before.
  ExitWaiter expect_exit(int pid, std::shared_ptr<SpawnWitness> witness);
  void expect_start(uint32_t request, std::shared_ptr<SpawnWitness> witness);
  int native_handle() { return socket_->native_handle(); }
  // That its sandbox can't answer, and nothing it is asked is to happen when it can again, but signals. For a while:
  // whoever asks waits for that; paused: no longer than for an answer.
  enum class Stillness { kNone, kForAWhile, kPaused };
  void set_stillness(Stillness stillness);

  // Waits for the warden's first message; a plan that failed on the way to it is an error that names the step.
  Task<Result<void>> ready(const std::function<std::string(int step, int error)>& describe);

  // The filesystem that the sandbox writes to, once it is ready: sent before the warden was there, so nothing inside
  // can have sent another. Empty without a writable root.
  Fd take_scratch() { return std::move(scratch_); }

  Task<Result<SpawnReply>> spawn(SpawnRequest request);
  Task<Result<void>> signal(int pid_or_group, int signal);
  // Paths are absolute and resolved inside the sandbox, as the given user.
  Task<Result<Fd>> open(std::string path, int flags, unsigned mode, uid_t uid, gid_t gid, FileType wanted);
  Task<Result<void>> make_directory(std::string path, unsigned mode, uid_t uid, gid_t gid);
  Task<Result<void>> rename(std::string from, std::string to, uid_t uid, gid_t gid);
  Task<Result<void>> remove(std::string path, FileType type, uid_t uid, gid_t gid);
  Task<Result<Fd>> watch(std::string path, uint32_t mask, uid_t uid, gid_t gid);
  Task<Result<Fd>> connect(uint16_t port);
  Task<Result<void>> serve_sudo();

 private:
  struct Answer {
    int value = 0;
    Fd descriptor;
  };
  using Waiter = std::shared_ptr<OneShot<std::shared_ptr<Answer>>>;

  void on_packet(std::string_view bytes, std::vector<Fd> descriptors);
  void on_exit(const ward::Reply& reply);
  void on_spawned(const ward::Reply& reply, const std::vector<Fd>& descriptors);
  void on_closed();
  void kill_unwanted(int pid);
  void close_in_time(const std::shared_ptr<asio::steady_timer>& timer, uint32_t request);
  Task<Result<void>> until_it_moves(std::string call);
  Task<Result<std::shared_ptr<Answer>>> ask(ward::Request request, std::string strings, std::vector<int> descriptors,
                                            std::string call);

  asio::any_io_executor executor_;
  std::shared_ptr<PacketSocket> socket_;
  Clock::duration patience_;
  uint32_t last_id_ = 0;
  Stillness stillness_ = Stillness::kNone;
  Change moved_;
  bool gone_ = false;
  bool ready_ = false;
  Fd scratch_;
  std::map<uint32_t, Waiter> waiting_;
  struct Spawned {
    ExitWaiter exit;
    std::shared_ptr<SpawnWitness> witness;  // may be none
    bool unwanted = false;                  // whoever asked was told that it does not start
  };
  std::map<uint32_t, Spawned> starting_;  // by request: an exit may follow the answer in the same batch
  std::map<int, Spawned> running_;
  std::shared_ptr<OneShot<std::string>> first_;
};

}  // namespace bj
