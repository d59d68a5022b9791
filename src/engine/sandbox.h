// A live sandbox on this host: its warden, its processes, its files, its limits, its end.
//
// Stays on its host's thread. A failure leaves it as it was and running, unless the function says otherwise.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "egress/credential.h"
#include "egress/gate_event.h"
#include "engine/gate_trust.h"
#include "engine/host.h"
#include "engine/layers/layer.h"
#include "engine/templates/template.h"
#include "engine/warden_client.h"
#include "seal/report.h"

namespace bj {

class Gate;
class LayerStore;
class ProcessRecord;

struct MountSpec {
  std::string source;  // on the host
  std::string target;  // in the sandbox; made if it is missing, except in a read-only root
  bool writable = false;
  std::shared_ptr<Fd> tree = nullptr;  // instead of a source: a detached mount, which the sandbox gets
};

struct SandboxSpec {
  Template image;
  Limits limits;
  std::map<std::string, std::string> environment;  // over the template's
  std::string user;                                // empty: the template's
  std::vector<MountSpec> mounts;
  RootMode root = RootMode::kWritable;
  SyscallProfile syscalls = SyscallProfile::kTool;
  uint64_t caps = kSandboxCaps;
  bool require_full_seal = false;
  NetworkPolicy network;        // nothing is allowed: no gate, only loopback
  bool gated = false;           // a gate all the same: policy, listener and credentials come later (open_network)
  GateListener on_network;      // told what happens at the gate
  GateCredentials credentials;  // that the gate gives to requests
  bool kept_ahead = true;       // others like it will be asked for: blanks of its kind are worth keeping
};

struct ProcessSpec {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // over the sandbox's
  std::string directory;                           // empty: the user's home
  std::string user;                                // empty: the sandbox's
  bool terminal = false;
  uint16_t rows = 24, columns = 80;
  std::vector<int> extra_descriptors;  // at 3, 4, ...
};

// A started process. Streams are ours to read and write; with a terminal there is only that.
struct Process {
  int pid = 0;  // inside
  Fd input, output, error;
  Fd terminal;
  ExitWaiter exit;
};

// What a sandbox does after its files were copied: what it did before, or nothing until resume().
enum class AfterSeal { kGoOn, kStandStill };

// What a pause gave back to the machine.
struct PauseReport {
  uint64_t memory_before = 0;
  uint64_t memory_after = 0;
};

// What a sandbox that had a gate may reach now.
struct SandboxNetwork {
  NetworkPolicy policy;
  GateListener listener;
  GateCredentials credentials;
};

class Sandbox : public std::enable_shared_from_this<Sandbox> {
 public:
  // A failure leaves nothing running, and gives everything back.
  static Task<Result<std::shared_ptr<Sandbox>>> create(Host& host, SandboxSpec spec);
  // Makes a blank one the caller's: his environment and user. A failure of code kInternal means that it has ended.
  Result<void> adopt(const SandboxSpec& spec);
  // An owner that forgets destroy() still leaves nothing running.
  ~Sandbox();

  Task<Result<Process>> start(ProcessSpec spec) { return start(std::move(spec), nullptr); }
  // The same, with a record of it: see process_record.h.
  Task<Result<Process>> start(ProcessSpec spec, std::shared_ptr<ProcessRecord> record);
  Task<Result<void>> signal_group(int pid, int signal) { return warden_->signal(-pid, signal); }
  Task<Result<void>> write_file(std::string path, std::string data, unsigned mode);
  Task<Result<std::string>> read_file(std::string path, size_t limit);
  // From and to a descriptor of ours, spliced by the kernel; runs on the movers. After a failure the target holds what
  // came before it, as with write_file().
  Task<Result<uint64_t>> copy_in(Fd from, std::string path, unsigned mode);
  Task<Result<uint64_t>> copy_out(std::string path, Fd to);
  WardenClient& warden() { return *warden_; }  // also of one that is over, which answers so

  // Of one that was created gated: what may be reached, who is told, what requests are given. All of it is in force
  // when this returns; nothing of the owner's may run before.
  Result<void> open_network(NetworkPolicy policy, GateListener listener, GateCredentials credentials);
  bool has_gate() const { return gate_ != nullptr; }
  // From now on; connections that it does not allow are reset, also if the kernel's sets could not be changed (a
  // failure: less may pass than the policy allows). Only for one that has a gate.
  Result<void> change_network(NetworkPolicy policy);
  // Ends every connection; when it returns, all events have been told.
  void close_network();
  // Stops every process where it is, the warden included: nothing is answered until resume(). Memory that the kernel
  // can do without goes back to the machine: file cache always, the rest only where there is swap. kBusy: a process
  // did not stop.
  Task<Result<PauseReport>> pause();
  Result<void> resume();
  bool paused() const { return still_since_.has_value(); }
  // How long it has been paused in all; grows while it is.
  Clock::duration stood_still() const;
  // What it has written. Stands still while the sandbox is paused, or over; who holds it keeps it beyond the sandbox's
  // end. kUnavailable: its root can't be written to.
  Result<UpperFiles> upper() const;
  // What it has written as a new layer of `store`: its processes stand still while it is copied. kConflict: it was
  // resumed, or ended, before the copy was whole. After a failure they go on as they were.
  Task<Result<Layer>> seal_layer(const LayerStore& store, AfterSeal then = AfterSeal::kGoOn, LayerLimits limits = {});

  // From now on it outlives this server, under that key, until destroy() or kill(); where the launcher keeps nothing,
  // this does nothing. What belongs to it is kept below the key (kept_sandbox.cc).
  void keep_as(const std::string& key);
  // Empty: it is not kept.
  const std::string& kept_as() const { return kept_as_; }
  // While there is no server the keeper ends it then (microseconds since the epoch); 0: never.
  void keep_until(int64_t when_us);
  // One that a server before this one has kept, with everything in it still running: frozen if it was.
  static Result<std::shared_ptr<Sandbox>> take_up(Host& host, KeptThing thing, SandboxNetwork network);

  // Ends the sandbox at that time; again to move it.
  void expire_at(Clock::time_point when);
  // Kills everything inside; returns at once, ended() tells when it is over.
  void kill();
  Task<void> ended();
  bool has_ended() const;
  // Kills, waits, gives everything back.
  Task<void> destroy();

  Host& host() { return host_; }
  const Seal& seal() const { return seal_; }
  const Template& image() const { return spec_.image; }
  // For the environment of processes that others than start() start; empty unless the gate opens TLS.
  const TrustVariables& trust() const { return trust_; }
  const Limits& limits() const { return spec_.limits; }
  const std::map<std::string, std::string>& environment() const { return spec_.environment; }  // over the template's
  const Account& account() const { return account_; }
  // One of the template's, else of the sandbox's own /etc/passwd: who is root inside adds users. Empty: account().
  Task<Result<Account>> find_account(std::string user);
  // The same as it was found last.
  Result<Account> known_account(const std::string& user) const;
  // Whether nothing more can be written in it now.
  bool disk_is_full() const;
  CgroupUsage usage() const { return group_.used(); }
  CgroupLoad load() const { return group_.load(); }

 private:
  Sandbox(Host& host, SandboxSpec spec);
  Task<Result<void>> launch();
  Result<void> open_gate(GateEndpoints ends);
  void report_network();
  Task<Result<void>> trust_gate();
  Result<void> choose_ids(SandboxPolicy& policy);
  void stand_still();
  SealFacts facts(const Plan& plan, const LaunchRequest& request) const;
  Task<Result<Account>> account_of(std::string user);
  std::vector<std::string> environment_for(const Account& account, const ProcessSpec& spec) const;
  std::string note() const;
  Result<void> read_note(const std::string& note, SandboxNetwork network);
  Result<void> take_descriptors(std::vector<Fd> descriptors);

  Host& host_;
  SandboxSpec spec_;
  Account account_;
  std::map<std::string, Account> added_accounts_;  // not the template's, as they were found
  UidRange range_;
  LeasedGroup group_;
  Seal seal_;
  TrustVariables trust_;
  std::optional<Error> untrusted_;  // why programs inside don't trust the gate
  std::shared_ptr<WardenClient> warden_;
  std::unique_ptr<asio::posix::stream_descriptor> pidfd_;
  std::shared_ptr<const Fd> scratch_;  // the filesystem of what it writes
  asio::steady_timer expiry_;
  std::shared_ptr<Gate> gate_;
  std::optional<Clock::time_point> still_since_;
  Clock::duration stood_still_{0};            // before that
  bool pause_asked_ = false;                  // by pause(): a copy of its files that began before leaves it so
  std::shared_ptr<std::atomic<bool>> moved_;  // told to a copy that needs it to stand still: it does no more
  std::string kept_as_;
  GateEndpoints kept_ends_;  // copies, until it is kept
  std::string kept_authority_;
};

// What a machine's abilities and hierarchies leave unavailable, by control.
std::map<Control, std::string> unavailable_controls(const Host& host);

// Reads a stream to its end, keeping at most `limit` bytes; `dropped` counts the rest.
struct Captured {
  std::string text;
  uint64_t dropped = 0;
};
Task<void> capture(asio::posix::stream_descriptor& stream, uint64_t limit, Captured& into);
// What is there now, up to a bound. False at the end of the stream.
bool capture_available(int fd, uint64_t limit, Captured& into);

}  // namespace bj
