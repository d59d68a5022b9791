#include "launcher/launcher.h"

#include <fcntl.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launcher/become.h"
#include "launcher/den.h"
#include "launcher/gate_control.h"
#include "launcher/keeper.h"
#include "launcher/network_pool.h"
#include "launcher/wait_for_next.h"
#include "launcher/wire.h"
#include "seal/carry_out.h"
#include "sys/clone.h"
#include "sys/files.h"
#include "sys/mount.h"
#include "sys/pidfd.h"
#include "sys/socket.h"
#include "sys/wait.h"

namespace bj {
namespace {

constexpr uid_t kOurselves = 0;  // rootless, too: there it is the launcher's own namespace that says so
constexpr uid_t kUnchanged = static_cast<uid_t>(-1);
constexpr size_t kMaxRequest = sizeof(launch::Create) + kMaxSteps * sizeof(Step) + kMaxStrings + 4096;
// A sandbox's mounts are passed in one message: /dev, the runtimes, its layers, its owner's.
static_assert(2 + kMaxLayers + kMaxExtraMounts <= kMaxPassed);

class Launcher {
 public:
  Launcher(Den den, NetworkPool networks, Fd warden, std::optional<Door> door)
      : den_(std::move(den)), networks_(std::move(networks)), warden_(std::move(warden)), door_(std::move(door)) {}

  // Serves one engine after the other, as long as there is one or something that was kept lives.
  void serve(Fd socket) {
    while (socket.ok()) {
      serve_engine(socket);
      socket = door_ ? wait_for_next(*door_, keeper_) : Fd();
    }
  }

 private:
  // Until the engine is gone. Idle moments go into preparing network namespaces.
  void serve_engine(const Fd& socket) {
    std::vector<char> buffer(kMaxRequest);
    for (;;) {
      while (!readable(socket) && networks_.wants_more()) networks_.prepare_one();
      if (door_) guard_door(socket);
      Result<Message> message = receive_message(socket.get(), buffer.data(), buffer.size());
      // An engine that died with answers unread: the kernel says so once, before what it had sent.
      if (!message && message.error().sys == ECONNRESET) continue;
      if (!message || message->size == 0) return;
      if (message->truncated) continue;
      answer(socket, {buffer.data(), message->size}, std::move(message->descriptors));
    }
  }

  // Waits until the engine says something, or is gone. Others are turned away meanwhile.
  void guard_door(const Fd& socket) const {
    for (;;) {
      std::array<pollfd, 2> fds{{{socket.get(), POLLIN, 0}, {door_->listener.get(), POLLIN, 0}}};
      if (!wait_for_events(fds, -1) || fds[0].revents != 0) return;
      turn_away(*door_);
    }
  }

  // What a new sandbox's owner gets.
  struct Given {
    Fd pidfd;
    GateEndpoints gate;
  };

  static bool readable(const Fd& socket) {
    pollfd p{socket.get(), POLLIN, 0};
    return wait_for_events({&p, 1}, 0).value_or(1) != 0;
  }

  void answer(const Fd& socket, std::string_view request, std::vector<Fd> descriptors) {
    if (request.size() < sizeof(launch::Header)) return;
    launch::Header header{};
    std::memcpy(&header, request.data(), sizeof header);
    if (header.kind >= launch::Kind::kKeep && header.kind <= launch::Kind::kDeadline) {
      return keep(header.kind, request, std::move(descriptors));
    }
    if (header.kind == launch::Kind::kList) return list(socket, header.id);
    Given given;
    const Result<int> value = do_request(header.kind, request, descriptors, given);
    launch::Answer reply{};
    reply.id = header.id;
    reply.value = value ? *value : -1;
    if (!value) {
      reply.error = value.error().sys != 0 ? value.error().sys : EINVAL;
      value.error().what.copy(reply.what, sizeof reply.what - 1);
    }
    std::vector<int> passed;
    if (given.pidfd.ok()) passed.push_back(given.pidfd.get());
    for (const Fd* end : given.gate.all()) {
      if (end->ok()) passed.push_back(end->get());
    }
    (void)send_message(socket.get(), {reinterpret_cast<const char*>(&reply), sizeof reply}, passed);
  }

  Result<int> do_request(launch::Kind kind, std::string_view request, const std::vector<Fd>& descriptors,
                         Given& given) {
    const std::string_view rest = request.substr(sizeof(launch::Header));
    uint32_t number = 0;
    switch (kind) {
      case launch::Kind::kAddLayer: return den_.add_layer(std::string(rest));
      case launch::Kind::kCreate: return create(request, descriptors, given);
      case launch::Kind::kDropLayer:
        if (rest.size() != sizeof number) break;
        std::memcpy(&number, rest.data(), sizeof number);
        return den_.drop_layer(number);
      default: break;  // the keeper's, answered elsewhere
    }
    return fail(Code::kInvalid, "malformed request", EBADMSG);
  }

  void keep(launch::Kind kind, std::string_view request, std::vector<Fd> descriptors) {
    launch::Keep keep{};
    if (request.size() <= sizeof keep || request.size() > sizeof keep + launch::kMaxKey) return;
    std::memcpy(&keep, request.data(), sizeof keep);
    const std::string key(request.substr(sizeof keep));
    if (kind == launch::Kind::kForget) return keeper_.forget(key);
    if (kind == launch::Kind::kDeadline) return keeper_.move_deadline(key, keep.deadline_us);
    Kept entry;
    if (keep.has_note != 0 && !descriptors.empty()) {
      entry.note = std::move(descriptors.front());
      descriptors.erase(descriptors.begin());
    }
    entry.descriptors = std::move(descriptors);
    entry.deadline_us = keep.deadline_us;
    entry.is_life = keep.is_life != 0;
    keeper_.keep(key, std::move(entry));
  }

  void list(const Fd& socket, uint32_t id) const {
    launch::Answer reply{};
    reply.id = id;
    for (const auto& [key, entry] : keeper_.entries()) {
      reply.value = entry.note.ok() ? 1 : 0;
      std::vector<int> passed;
      if (entry.note.ok()) passed.push_back(entry.note.get());
      for (const Fd& fd : entry.descriptors) passed.push_back(fd.get());
      (void)send_message(socket.get(), std::string(reinterpret_cast<const char*>(&reply), sizeof reply) + key, passed);
    }
    (void)send_message(socket.get(), {reinterpret_cast<const char*>(&reply), sizeof reply}, {});
  }

  Result<int> create(std::string_view request, const std::vector<Fd>& descriptors, Given& given) {
    launch::Create create{};
    if (request.size() < sizeof create) return fail(Code::kInvalid, "short request", EBADMSG);
    std::memcpy(&create, request.data(), sizeof create);
    const size_t steps_size = size_t{create.step_count} * sizeof(Step);
    if (create.step_count > kMaxSteps || request.size() != sizeof create + steps_size + create.strings_size ||
        create.layer_count > kMaxLayers || create.extra_count > kMaxExtraMounts || create.cgroup_count > kMaxCgroups ||
        (create.born_in_cgroup != 0 && create.cgroup_count != 1) ||
        descriptors.size() != 1 + create.cgroup_count + passed_trees(create)) {
      return fail(Code::kInvalid, "malformed request", EBADMSG);
    }
    std::vector<Step> steps(create.step_count);
    std::memcpy(steps.data(), request.data() + sizeof create, steps_size);
    const PlanView plan{steps.data(), create.step_count, request.data() + sizeof create + steps_size,
                        create.strings_size};
    return clone_sandbox(create, plan, descriptors, given);
  }

  Result<int> clone_sandbox(const launch::Create& create, const PlanView& plan, const std::vector<Fd>& descriptors,
                            Given& given) {
    BJ_TRY(auto late, socket_pair(SOCK_SEQPACKET));
    CarryOut state{};
    for (int& slot : state.slots) slot = -1;
    state.slots[kSlotProgram] = warden_.get();
    state.slots[kSlotControl] = descriptors[0].get();
    for (uint32_t i = 0; i < create.cgroup_count; ++i) state.slots[kSlotCgroup + i] = descriptors[1 + i].get();

    BJ_TRY(const Network network, network_of(create.network, given.gate));
    BJ_CHECK(network.enter());
    BJ_CHECK(act_as(owner_of(create)));
    const int into = create.born_in_cgroup != 0 ? descriptors[1].get() : -1;
    const Cloned cloned = clone_process(create.clone_flags | own_network_flag(create) | CLONE_FILES, into);
    if (cloned.pid == 0) become_sandbox(plan, state, late.second.get(), late.first.get());
    BJ_CHECK(act_as(kOurselves));
    BJ_CHECK(networks_.go_home());
    if (cloned.pid < 0) return fail_with(-cloned.pid, "clone3");
    given.pidfd = Fd(cloned.pidfd);

#ifdef BELLJAR_TEST_SWITCHES
    if (own_network_flag(create) != 0) {
      BJ_TRY(given.gate, networks_.furnish_network_of(cloned.pid));
    }
#endif
    const std::span<const Fd> trees = std::span(descriptors).subspan(1 + create.cgroup_count);
    const Result<void> mounted = give_mounts(create, cloned.pid, trees, late.first);
    if (!mounted) kill_process(given.pidfd.get());
    wait_until_apart(late.first, given.pidfd);
    if (!mounted) return tl::unexpected(mounted.error());
    return cloned.pid;
  }

  // Until the clone has a table of descriptors of its own, or has ended, nothing that it was given may be closed.
  static void wait_until_apart(const Fd& late, const Fd& pidfd) {
    std::array<pollfd, 2> fds{{{late.get(), POLLIN, 0}, {pidfd.get(), POLLIN, 0}}};
    (void)wait_for_events(fds, -1);
    char word = 0;  // read, lest the clone sees a reset instead of its mounts
    if (fds[0].revents != 0) (void)receive_some(late.get(), &word, 1, MSG_DONTWAIT);
  }

  static size_t passed_trees(const launch::Create& create) {
    return static_cast<size_t>(std::count(create.extras, create.extras + create.extra_count, launch::kPassedTree));
  }

  // What the kernel counts by user (inotify instances, queued signals) it also charges to whoever made the user
  // namespace. That must be nobody else: not the host's root, and not the maker of all the other sandboxes.
  static uid_t owner_of(const launch::Create& create) {
    const bool own = (create.clone_flags & CLONE_NEWUSER) != 0 && create.ids.kind == IdMap::Kind::kRange;
    return own ? create.ids.outside : kOurselves;
  }

  // Not by the C library, which would ask threads to follow that our parent may have had.
  static Result<void> act_as(uid_t user) {
    if (::geteuid() == user) return {};
    if (::syscall(SYS_setresuid, kUnchanged, user, kUnchanged) != 0) return fail_errno("setresuid");
    return {};
  }

  // A network that has a gate is never the sandbox's own.
  static uint64_t own_network_flag(const launch::Create& create) {
    return create.network == launch::NetworkOf::kGated && !gate_keeps(GateControl::kOwnership) ? CLONE_NEWNET : 0;
  }

  Result<Network> network_of(launch::NetworkOf whose, GateEndpoints& gate) {
    switch (whose) {
      case launch::NetworkOf::kGated: {
        BJ_TRY(GatedNetwork made, networks_.take_gated());
        gate = std::move(made.ends);
        return std::move(made.network);
      }
      case launch::NetworkOf::kLaunchers: return networks_.home();
      case launch::NetworkOf::kSandbox: return networks_.take();
    }
    return fail(Code::kInvalid, "malformed request", EBADMSG);
  }

  // The ids of the new user namespace, and the mounts that need it: sent late, because the namespace must exist first.
  Result<void> give_mounts(const launch::Create& create, int pid, std::span<const Fd> trees, const Fd& late) {
    Fd user_namespace;
    if ((create.clone_flags & CLONE_NEWUSER) != 0) {
      BJ_CHECK(write_id_maps(pid, create.ids));
      BJ_TRY(user_namespace, open_path("/proc/" + std::to_string(pid) + "/ns/user", O_RDONLY));
    }
    const int idmap = create.idmap_layers != 0 && user_namespace.ok() ? user_namespace.get() : -1;
    std::array<Fd, kMaxSlots> mounts;
    BJ_TRY(mounts[kSlotDev], den_.clone_dev());
    BJ_TRY(mounts[kSlotRuntimes], den_.clone_layer(create.runtimes_layer, idmap, Writable::kNo));
    for (uint32_t i = 0; i < create.layer_count; ++i) {
      BJ_TRY(mounts[kSlotLayer + i], den_.clone_layer(create.layers[i], idmap, Writable::kYes));
    }
    std::vector<std::pair<size_t, int>> given;  // trees that came with the request, by slot
    for (uint32_t i = 0; i < create.extra_count; ++i) {
      const auto writable = create.extra_writable[i] != 0 ? Writable::kYes : Writable::kNo;
      if (create.extras[i] == launch::kPassedTree) {
        const int tree = trees[given.size()].get();
        BJ_CHECK(Den::shape(tree, idmap, writable));
        given.emplace_back(kSlotExtra + i, tree);
      } else {
        BJ_TRY(mounts[kSlotExtra + i], den_.clone_layer(create.extras[i], idmap, writable));
      }
    }
    std::string slots;
    std::vector<int> passed;
    for (size_t i = 0; i < mounts.size(); ++i) {
      if (!mounts[i].ok()) continue;
      slots.push_back(static_cast<char>(i));
      passed.push_back(mounts[i].get());
    }
    for (const auto& [slot, tree] : given) {
      slots.push_back(static_cast<char>(slot));
      passed.push_back(tree);
    }
    return send_message(late.get(), slots, passed);
  }

  Den den_;
  NetworkPool networks_;
  Fd warden_;
  std::optional<Door> door_;
  Keeper keeper_;
};

// What the server that started us would show its user is none of ours, and its ends must close with it.
void leave_terminal() {
  const Result<Fd> null = open_path("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (null) ::dup2(null->get(), fd);
  }
}

Result<void> run_launcher(Fd& socket, std::string_view warden_program, std::optional<Door> door) {
  ::prctl(PR_SET_NAME, "belljar-launch");
  ::setsid();
  if (door) leave_terminal();
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(s, SIG_IGN);
  const rlimit no_dumps{1, 1};
  (void)::setrlimit(RLIMIT_CORE,
                    &no_dumps);  // while we still may raise a hard limit of 0; see set_rlimits() in seal/plan.cc
  // A change of the user for a moment (owner_of) takes no capability away. Without root there is none.
  (void)::prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0);
  ::signal(SIGCHLD, SIG_IGN);  // the kernel reaps: the engine holds the pidfds
  BJ_TRY(Fd warden, anonymous_file("warden", warden_program));
  BJ_TRY(Den den, Den::dig());
  BJ_TRY(NetworkPool networks, NetworkPool::create());
  const char ready = 'R';
  BJ_CHECK(send_message(socket.get(), {&ready, 1}, {}));
  Launcher(std::move(den), std::move(networks), std::move(warden), std::move(door)).serve(std::move(socket));
  return {};
}

}  // namespace

Result<Fd> start_launcher(std::string_view warden_program, std::optional<Door> door) {
  BJ_TRY(auto ends, socket_pair(SOCK_SEQPACKET));
  const Cloned cloned = clone_process(0);
  if (cloned.pid < 0) return fail_with(-cloned.pid, "clone3(launcher)");
  if (cloned.pid == 0) {
    ends.first.reset();
    const Result<void> done = run_launcher(ends.second, warden_program, std::move(door));
    if (!done) (void)send_message(ends.second.get(), "F" + done.error().what, {});
    ::_exit(done ? 0 : 1);
  }
  ::close(cloned.pidfd);
  ends.second.reset();
  char buffer[1024];
  BJ_TRY(const Message message, receive_message(ends.first.get(), buffer, sizeof buffer));
  if (message.size == 1 && buffer[0] == 'R') return std::move(ends.first);
  const std::string why = message.size > 1 ? std::string(buffer + 1, message.size - 1) : "it ended at once";
  return fail(Code::kUnavailable, "the launcher could not start: " + why);
}

}  // namespace bj
