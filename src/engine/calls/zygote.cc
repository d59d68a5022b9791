#include "engine/calls/zygote.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstring>

#include "engine/test_switch.h"
#include "seal/report.h"
#include "sys/duplicate.h"
#include "sys/files.h"
#include "sys/pidfd.h"
#include "sys/pipe.h"
#include "sys/socket.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr uint32_t kFirstUid = 10'000, kUidCount = 50'000;
constexpr size_t kMaxReply = 64 * 1024;
constexpr uint64_t kMostUnjoined = 4096;
constexpr auto kStartTimeout = std::chrono::seconds(30);
constexpr auto kForkPatience = std::chrono::seconds(10);

json::array to_array(const std::vector<std::string>& list) {
  json::array out;
  for (const std::string& item : list) out.emplace_back(item);
  return out;
}

// The zygote lives long and forks much; a call's own limits apply to its children, which are among its processes only
// until they have joined their own groups. But what it imports may fork as well, and a machine has some 32,000.
Limits zygote_limits(const Limits& limits) {
  Limits own = limits;
  own.processes = std::max<uint64_t>(limits.processes, kMostUnjoined);
  own.open_files = 4096;
  own.cpu_ms = 0;
  own.wall_ms = 0;
  return own;
}

}  // namespace

Child::Child(std::shared_ptr<Zygote> zygote, LeasedGroup group, uint32_t id, uint32_t uid)
    : zygote_(std::move(zygote)), group_(std::move(group)), id_(id), uid_(uid), birth_(zygote_->host_.executor) {}

Child::~Child() {
  kill();
  if (pidfd_) {
    // Nobody buried it (the engine is ending): the group can't be used again, and goes when the process is gone.
    group_.give_back();
  }
  zygote_->uids_.erase(uid_);
}

void Child::born(Fd pidfd) {
  birth_error_ = 0;
  pidfd_ = std::make_unique<asio::posix::stream_descriptor>(zygote_->host_.executor, pidfd.release());
  if (killed_) kill();
  birth_.set(0);
}

void Child::stillborn(int error) {
  birth_error_ = error;
  birth_.set(error);
}

Task<Result<void>> Child::born() {
  if (birth_error_ < 0) BJ_CO_CHECK(co_await birth_.get());
  if (birth_error_ != 0) co_return fail_with(birth_error_, "fork of the zygote");
  co_return Result<void>();
}

void Child::kill() {
  killed_ = true;
  if (pidfd_) kill_process(pidfd_->native_handle());
}

Task<void> Child::bury() {
  kill();
  if (birth_error_ < 0 && !zygote_->gone()) (void)co_await birth_.get();
  if (pidfd_) {
    while (!has_ended(pidfd_->native_handle())) co_await readable(*pidfd_);  // it may end early: see Sandbox::destroy
    exit_status_ = exit_status_of(pidfd_->native_handle());
    pidfd_.reset();
    const size_t before = zygote_->host_.cgroups->abandoned();
    last_used_ = group_.give_back();
    // It was another process that we were told: what lives on in the call's group ends with the zygote.
    if (zygote_->host_.cgroups->abandoned() > before) zygote_->kill();
    zygote_->tell_buried(id_);
  }
  group_.give_back();  // of one that was never born
}

CgroupUsage Child::used() const { return pidfd_ ? group_.used() : last_used_; }

const Seal& Child::seal() const { return zygote_->seal(); }

Task<Result<std::shared_ptr<Zygote>>> Zygote::start(Host& host, EnvironmentSpec spec, Limits limits,
                                                    std::vector<std::string> preload, RunnerNetwork network) {
  std::shared_ptr<Zygote> zygote(new Zygote(host, std::move(spec), limits, network));
  if (Result<void> running = co_await zygote->run(std::move(preload)); !running) {
    co_await zygote->stop();
    co_return tl::unexpected(running.error());
  }
  co_return zygote;
}

Zygote::~Zygote() {
  if (control_) control_->close();
}

Task<Result<void>> Zygote::run(std::vector<std::string> preload) {
  SandboxSpec sandbox;
  sandbox.image = spec_.image;
  sandbox.limits = zygote_limits(limits_);
  sandbox.root = RootMode::kTemplate;
  sandbox.syscalls = SyscallProfile::kZygote;
  sandbox.caps = kZygoteCaps;
  sandbox.gated = network_ == RunnerNetwork::kGated;
  sandbox.user = "root";  // it seals its children, so it must keep its capabilities when it executes
  if (!spec_.host_packages.empty()) sandbox.mounts.push_back({spec_.host_packages, kPackagesInside, false});
  BJ_CO_TRY(sandbox_, co_await Sandbox::create(host_, std::move(sandbox)));

  BJ_CO_TRY(auto ends, socket_pair(SOCK_SEQPACKET));
  const json::object config{
      {"control_fd", 3}, {"site_dirs", to_array(spec_.site_dirs)}, {"preload", to_array(preload)}};
  ProcessSpec process;
  process.arguments = {spec_.interpreter, "-I", "-S", "/opt/belljar/python/main.py", json::serialize(config)};
  process.environment = {{"HOME", "/home/user"}, {"USER", "user"}, {"LOGNAME", "user"}};
  process.directory = "/";
  process.extra_descriptors = {ends.second.get()};
  Result<Process> started = co_await sandbox_->start(std::move(process));
  if (!started) {
    co_return fail(started.error().code == Code::kNotFound ? Code::kUnavailable : started.error().code,
                   "the template has no usable \"" + spec_.interpreter + "\": " + started.error().what);
  }
  process_ = std::move(*started);
  ends.second.reset();
  hello_ = std::make_shared<OneShot<std::string>>(host_.executor);
  control_ = std::make_shared<PacketSocket>(host_.executor, std::move(ends.first), kMaxReply);
  control_->start(
      [weak = weak_from_this()](std::string_view bytes, std::vector<Fd> fds) {
        if (const auto self = weak.lock()) self->on_packet(bytes, std::move(fds));
      },
      [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->on_closed();
      });
  BJ_CO_CHECK(send_plan());
  sandbox_->expire_at(Clock::now() + kStartTimeout);
  const Result<std::string> hello = co_await hello_->get();
  if (!hello) {
    sandbox_->kill();
    co_await sandbox_->ended();  // or reading what it said would wait for one that was only told to end (cancelled)
    Captured complaint;
    capture_available(process_.error.get(), 4096, complaint);
    co_return fail(Code::kUnavailable, "the zygote (" + spec_.interpreter + ") did not start: " +
                                           (complaint.text.empty() ? "it ended or took too long" : complaint.text));
  }
  sandbox_->expire_at(Clock::time_point::max());
  boost::system::error_code error;
  const json::value report = json::parse(*hello, error);
  if (!error && report.is_object() && report.get_object().contains("failed") && report.at("failed").is_object()) {
    for (const auto& item : report.at("failed").get_object()) failed_imports_.emplace_back(item.key());
  }
  co_return Result<void>();
}

Result<void> Zygote::send_plan() {
  SandboxPolicy policy;
  policy.limits = limits_;
  policy.ids.kind = host_.uids ? IdMap::Kind::kRange : IdMap::Kind::kSingle;
  Plan plan = call_plan(policy, host_.abilities, host_.cgroups->joined_controls());
  zygote::PlanHeader header{0, 0, call_clone_flags(), 1, 0};
  bool own_network = true;
#ifdef BELLJAR_TEST_SWITCHES
  switch_off_in_call(host_.without, plan, header.clone_flags, own_network);
  header.own_network = own_network ? 1 : 0;
#endif
  if (network_ == RunnerNetwork::kGated) header.own_network = 0;
  header.step_count = static_cast<uint32_t>(plan.steps.size());
  header.strings_size = static_cast<uint32_t>(plan.strings.size());
  SealFacts facts{.plan = &plan,
                  .clone_flags = header.clone_flags,
                  .own_network = own_network,
                  .idmapped = sandbox_->seal().at(Control::kIdmap).state == ControlState::kOn,
                  .calls = true,
                  .ids = policy.ids.kind,
                  .unavailable = unavailable_controls(host_)};
  seal_ = report_seal(facts);
  for (const Control from_zygote :
       {Control::kUserNs, Control::kRoot, Control::kReadOnly, Control::kDev, Control::kProc}) {
    const ControlReport& report = sandbox_->seal().at(from_zygote);
    seal_.set(from_zygote, report.state, report.detail);
  }
  if (network_ == RunnerNetwork::kGated) report_network();
  std::string message(reinterpret_cast<const char*>(&header), sizeof header);
  message.append(reinterpret_cast<const char*>(plan.steps.data()), plan.steps.size() * sizeof(Step));
  message.append(plan.strings);
  return control_->send(message);
}

void Zygote::report_network() {
  const ControlReport& report = sandbox_->seal().at(Control::kNetNs);
  seal_.set(Control::kNetNs, report.state, report.detail);
}

Result<void> Zygote::open_network(const CallSpec& spec, GateListener listener) {
  BJ_CHECK(sandbox_->open_network(spec.network, std::move(listener), spec.credentials));
  report_network();
  return {};
}

uint32_t Zygote::take_uid() {
  do {
    next_uid_ = (next_uid_ + 1) % kUidCount;
  } while (uids_.contains(kFirstUid + next_uid_));
  uids_[kFirstUid + next_uid_] = true;
  return kFirstUid + next_uid_;
}

// Of very many forks at once, those that the socket has no room for wait for their turn.
Result<void> Zygote::send_request(const zygote::ForkRequest& request, const std::vector<int>& descriptors) {
  const std::string bytes(reinterpret_cast<const char*>(&request), sizeof request);
  Result<void> sent = control_->send(bytes, descriptors);
  if (sent || sent.error().sys != EAGAIN) return sent;
  std::vector<Fd> copies;
  for (const int fd : descriptors) {
    BJ_TRY(Fd copy, duplicate(fd));
    copies.push_back(std::move(copy));
  }
  control_->post(bytes, std::move(copies));
  return {};
}

void Zygote::tell_buried(uint32_t id) {
  if (gone_) return;
  const zygote::Buried buried{id};
  control_->post(std::string(reinterpret_cast<const char*>(&buried), sizeof buried), {});
}

Result<std::shared_ptr<Child>> Zygote::fork(Readiness readiness) {
  if (gone_) return fail(Code::kUnavailable, "the zygote has ended");
  BJ_TRY(LeasedGroup group, host_.cgroups->take(limits_, group_holder_));
  BJ_TRY(auto channel, guarded_socket_pair(SOCK_STREAM));
  BJ_TRY(Pipe output, make_stream_pipe());
  BJ_TRY(Pipe error, make_stream_pipe());
  std::vector<int> passed{channel.second.get(), output.write.get(), error.write.get()};
  const std::vector<int> cgroup_files = group.join_files();
  passed.insert(passed.end(), cgroup_files.begin(), cgroup_files.end());
  const zygote::ForkRequest request{++last_id_, take_uid(), readiness == Readiness::kWarm ? 1u : 0u,
                                    static_cast<uint32_t>(cgroup_files.size())};
  auto child = std::make_shared<Child>(shared_from_this(), std::move(group), request.id, request.uid);
  BJ_CHECK(send_request(request, passed));
  child->readiness = readiness;
  child->connect(host_.executor, std::move(channel.first), std::move(output.read), std::move(error.read));
  unborn_.emplace(request.id, Unborn{child, Clock::now()});
  watch_forks();
  return child;
}

// What was imported into a zygote can stop it. Then nobody would be there to kill when a call's time is up, so the
// zygote itself goes, and what waits for it learns of its end. One that has much to do is not stopped.
void Zygote::watch_forks() {
  if (watching_forks_) return;
  watching_forks_ = true;
  fork_watch_.expires_after(kForkPatience);
  fork_watch_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    self->watching_forks_ = false;
    if (self->unborn_.empty()) return;
    const Clock::time_point silent_since = std::max(self->unborn_.begin()->second.since, self->last_reply_);
    if (Clock::now() - silent_since < kForkPatience) return self->watch_forks();
    self->kill();
  });
}

void Zygote::on_packet(std::string_view bytes, std::vector<Fd> descriptors) {
  zygote::ForkReply reply{};
  if (!greeted_) {
    greeted_ = true;
    hello_->set(std::string(bytes));
    return;
  }
  if (bytes.size() != sizeof reply) return;
  std::memcpy(&reply, bytes.data(), sizeof reply);
  const auto found = unborn_.find(reply.id);
  if (found == unborn_.end()) return;
  const std::shared_ptr<Child> child = found->second.child.lock();
  unborn_.erase(found);
  last_reply_ = Clock::now();
  if (!child) return;
  if (reply.error == 0 && descriptors.size() == 1 && is_pidfd(descriptors.front().get())) {
    child->born(std::move(descriptors.front()));
  } else {
    child->stillborn(reply.error != 0 ? reply.error : EBADMSG);
  }
}

void Zygote::on_closed() {
  gone_ = true;
  hello_->close();
  for (const auto& [id, unborn] : unborn_) {
    if (const auto child = unborn.child.lock()) child->stillborn(ESRCH);
  }
  unborn_.clear();
}

Task<void> Zygote::stop() {
  const auto self = shared_from_this();
  if (control_) control_->close();
  gone_ = true;
  if (sandbox_) co_await sandbox_->destroy();
  group_holder_.reset();
}

}  // namespace bj
