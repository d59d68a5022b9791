#include "engine/warden_client.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <csignal>
#include <cstring>

#include "base/within.h"
#include "launcher/wire.h"
#include "seal/plan.h"

namespace bj {
namespace {

constexpr size_t kMaxReply = 4096;
constexpr auto kReadyTime = std::chrono::seconds(60);  // a machine that is busy with others takes a while to seal one

Result<void> check_type(const Fd& fd, FileType wanted, const std::string& call) {
  struct stat info{};
  if (!fd.ok()) return fail(Code::kInternal, call + ": the warden sent no descriptor");
  if (::fstat(fd.get(), &info) != 0) return fail_errno(call + ": fstat");
  const bool good = wanted == FileType::kAny || (wanted == FileType::kRegular && S_ISREG(info.st_mode)) ||
                    (wanted == FileType::kDirectory && S_ISDIR(info.st_mode));
  if (!good)
    return fail(Code::kInvalid, call + ": not a " + (wanted == FileType::kRegular ? "regular file" : "directory"));
  return {};
}

Result<void> check_terminal(const Fd& fd) {
  struct stat info{};
  constexpr unsigned kPtmxMajor = 5, kPtmxMinor = 2;
  if (!fd.ok() || ::fstat(fd.get(), &info) != 0 || !S_ISCHR(info.st_mode) || major(info.st_rdev) != kPtmxMajor ||
      minor(info.st_rdev) != kPtmxMinor) {
    return fail(Code::kInternal, "spawn: the warden sent no terminal");
  }
  return {};
}

Result<void> check_socket(const Fd& fd) {
  int type = 0;
  socklen_t size = sizeof type;
  if (!fd.ok() || ::getsockopt(fd.get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) {
    return fail(Code::kInternal, "connect: the warden sent no stream socket");
  }
  return {};
}

// A socket that may still be connecting, when it is.
Task<Result<Fd>> connected(asio::any_io_executor executor, Fd connecting, std::string call) {
  BJ_CO_CHECK(check_socket(connecting));
  asio::posix::stream_descriptor descriptor(executor, connecting.release());
  if (!co_await writable(descriptor)) co_return fail(Code::kUnavailable, call + ": cancelled");
  Fd socket(descriptor.release());
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) co_return fail_with(error, call);
  co_return socket;
}

ward::Request path_request(ward::Op op, uid_t uid, gid_t gid) {
  ward::Request request{};
  request.op = op;
  request.uid = uid;
  request.gid = gid;
  return request;
}

std::string terminated(const std::string& text) { return text + '\0'; }

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

}  // namespace

WardenClient::WardenClient(const asio::any_io_executor& executor, Fd socket, Clock::duration patience)
    : executor_(executor),
      socket_(std::make_shared<PacketSocket>(executor, std::move(socket), kMaxReply)),
      patience_(patience),
      moved_(executor),
      first_(std::make_shared<OneShot<std::string>>(executor)) {
  socket_->start([this](std::string_view bytes, std::vector<Fd> fds) { on_packet(bytes, std::move(fds)); },
                 [this] { on_closed(); });
}

void WardenClient::close() {
  socket_->close();
  on_closed();
}

void WardenClient::on_packet(std::string_view bytes, std::vector<Fd> descriptors) {
  ward::Reply reply{};
  if (!ready_ && bytes == kScratchMessage && descriptors.size() == 1) {
    scratch_ = std::move(descriptors.front());
    return;
  }
  ready_ = true;
  if (!ward::decode(bytes.data(), bytes.size(), reply)) {
    first_->set(std::string(bytes));
    return;
  }
  if (reply.kind == ward::ReplyKind::kReady) {
    first_->set(std::string());
  } else if (reply.kind == ward::ReplyKind::kExit) {
    on_exit(reply);
  } else {
    on_spawned(reply, descriptors);
    const auto found = waiting_.find(reply.id);
    if (found == waiting_.end()) return;
    auto answer = std::make_shared<Answer>();
    answer->value = reply.value;
    if (!descriptors.empty()) answer->descriptor = std::move(descriptors.front());
    found->second->set(std::move(answer));
  }
}

void WardenClient::on_exit(const ward::Reply& reply) {
  const auto found = running_.find(reply.value);
  if (found == running_.end()) return;
  const ExitReport report{reply.status, reply.user_us, reply.system_us, reply.max_rss_kb};
  if (found->second.witness) found->second.witness->exited(report);
  found->second.exit->set(report);
  running_.erase(found);
}

// Whether the answer is to a spawn, and what it says.
void WardenClient::on_spawned(const ward::Reply& reply, const std::vector<Fd>& descriptors) {
  const auto found = starting_.find(reply.id);
  if (found == starting_.end()) return;
  const Spawned spawned = found->second;
  starting_.erase(found);
  if (spawned.unwanted) {
    if (reply.value > 0) kill_unwanted(reply.value);
    return;
  }
  static const Fd none;
  if (reply.value > 0) running_[reply.value] = spawned;
  if (spawned.witness && reply.value > 0)
    spawned.witness->started(reply.value, descriptors.empty() ? none : descriptors.front());
  if (spawned.witness && reply.value <= 0) spawned.witness->failed();
}

// With what it has started: nobody would ever hear of it.
void WardenClient::kill_unwanted(int pid) {
  ward::Request request = path_request(ward::Op::kSignal, 0, 0);
  request.id = ++last_id_;
  request.number = -pid;
  request.flags = SIGKILL;
  socket_->post({reinterpret_cast<const char*>(&request), sizeof request}, {});
}

ExitWaiter WardenClient::expect_exit(int pid, std::shared_ptr<SpawnWitness> witness) {
  Spawned& spawned = running_[pid];
  if (!spawned.exit) spawned.exit = std::make_shared<OneShot<ExitReport>>(executor_);
  if (gone_) spawned.exit->close();
  spawned.witness = std::move(witness);
  return spawned.exit;
}

void WardenClient::expect_start(uint32_t request, std::shared_ptr<SpawnWitness> witness) {
  starting_[request] = {std::make_shared<OneShot<ExitReport>>(executor_), std::move(witness)};
}

void WardenClient::on_closed() {
  gone_ = true;
  moved_.tell();
  first_->close();
  for (const auto& [id, waiter] : waiting_) waiter->close();
  for (const auto& [pid, spawned] : running_) spawned.exit->close();
  running_.clear();
}

Task<Result<void>> WardenClient::ready(const std::function<std::string(int, int)>& describe) {
  const Result<std::string> first = co_await get_within(first_, kReadyTime);
  if (!first && !gone_) co_return fail(Code::kUnavailable, "the sandbox's warden does not get ready");
  if (!first) co_return fail(Code::kUnavailable, "the sandbox ended before its warden was ready");
  if (first->empty()) co_return Result<void>();
  launch::PlanFailed failed{};
  if (first->size() != sizeof failed) co_return fail(Code::kInternal, "the warden's first message is malformed");
  std::memcpy(&failed, first->data(), sizeof failed);
  if (failed.magic != launch::kPlanFailedMagic)
    co_return fail(Code::kInternal, "the warden's first message is malformed");
  co_return fail(Code::kUnavailable, "the sandbox could not be sealed: " + describe(failed.step, failed.error),
                 failed.error);
}

void WardenClient::set_stillness(Stillness stillness) {
  stillness_ = stillness;
  moved_.tell();
}

Task<Result<void>> WardenClient::until_it_moves(std::string call) {
  const Clock::time_point latest = Clock::now() + patience_;
  while (stillness_ != Stillness::kNone && !gone_) {
    const bool paused = stillness_ == Stillness::kPaused;
    if (paused && Clock::now() >= latest) co_return fail(Code::kConflict, call + ": the sandbox is paused");
    co_await moved_.wait_until(paused ? latest : Clock::time_point::max());
  }
  co_return Result<void>();
}

// A warden does nothing that takes long, unless it can't.
void WardenClient::close_in_time(const std::shared_ptr<asio::steady_timer>& timer, uint32_t request) {
  timer->expires_after(patience_);
  timer->async_wait([weak = weak_from_this(), timer, request](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    const auto found = self->waiting_.find(request);
    if (found == self->waiting_.end()) return;
    if (self->stillness_ == Stillness::kForAWhile) return self->close_in_time(timer, request);
    found->second->close();
  });
}

Task<Result<std::shared_ptr<WardenClient::Answer>>> WardenClient::ask(ward::Request request, std::string strings,
                                                                      std::vector<int> descriptors, std::string call) {
  const auto self = shared_from_this();
  if (request.op != ward::Op::kSignal) BJ_CO_CHECK(co_await until_it_moves(call));
  if (gone_) co_return fail(Code::kUnavailable, call + ": the sandbox has ended");
  request.id = request.id != 0 ? request.id : ++last_id_;
  std::string message(reinterpret_cast<const char*>(&request), sizeof request);
  message += strings;
  if (message.size() > ward::kMaxMessage)
    co_return fail(Code::kInvalid, call + ": arguments and environment are over 160 KiB");
  auto waiter = std::make_shared<OneShot<std::shared_ptr<Answer>>>(executor_);
  waiting_.emplace(request.id, waiter);
  Result<std::shared_ptr<Answer>> answer = fail(Code::kInternal, "");
  if (const Result<void> sent = co_await socket_->deliver(std::move(message), std::move(descriptors)); !sent) {
    answer = tl::unexpected(sent.error());
  } else {
    const auto deadline = std::make_shared<asio::steady_timer>(executor_);
    close_in_time(deadline, request.id);
    answer = co_await waiter->get();
    deadline->cancel();
  }
  waiting_.erase(request.id);
  if (!answer && !gone_) co_return fail(Code::kUnavailable, call + ": the sandbox does not answer");
  if (!answer) co_return fail(Code::kUnavailable, call + ": the sandbox has ended");
  if ((*answer)->value < 0) co_return fail_with(-(*answer)->value, call);
  co_return answer;
}

Task<Result<SpawnReply>> WardenClient::spawn(SpawnRequest spawn) {
  const auto self = shared_from_this();
  ward::Request request = path_request(ward::Op::kSpawn, spawn.uid, spawn.gid);
  request.id = ++last_id_;
  request.flags = (spawn.terminal ? ward::kTerminal : 0u) | (spawn.no_input ? ward::kNoInput : 0u);
  request.rows = spawn.rows;
  request.columns = spawn.columns;
  request.argument_count = static_cast<uint32_t>(spawn.arguments.size());
  request.environment_count = static_cast<uint32_t>(spawn.environment.size());
  if (spawn.arguments.empty()) co_return fail(Code::kInvalid, "spawn: no command given");
  if (spawn.arguments.size() + spawn.environment.size() > ward::kMaxStrings) {
    co_return tl::unexpected(Error{
        Code::kInvalid,
        "a command has " + std::to_string(ward::kMaxStrings) + " arguments and variables together at most", E2BIG});
  }
  std::string strings = terminated(spawn.directory);
  bool sound = !has_nul(spawn.directory);
  for (const auto* list : {&spawn.arguments, &spawn.environment}) {
    for (const std::string& text : *list) {
      sound = sound && !has_nul(text);
      strings += terminated(text);
    }
  }
  if (!sound) co_return fail(Code::kInvalid, "spawn: an argument holds a NUL byte");
  const std::string call = "run " + spawn.arguments[0];
  auto exit = std::make_shared<OneShot<ExitReport>>(executor_);
  if (spawn.witness) spawn.witness->asked(request.id);
  starting_.emplace(request.id, Spawned{exit, spawn.witness});
  auto answer = co_await ask(request, std::move(strings), std::move(spawn.descriptors), call);
  if (const auto found = starting_.find(request.id); found != starting_.end()) {  // not answered
    found->second.unwanted = true;  // it may be yet, by a sandbox that was paused meanwhile
    if (const auto witness = std::exchange(found->second.witness, nullptr)) witness->failed();
  }
  if (!answer) co_return tl::unexpected(answer.error());
  if (spawn.terminal) BJ_CO_CHECK(check_terminal((*answer)->descriptor));
  co_return SpawnReply{(*answer)->value, std::move((*answer)->descriptor), std::move(exit)};
}

Task<Result<void>> WardenClient::signal(int pid_or_group, int signal) {
  ward::Request request = path_request(ward::Op::kSignal, 0, 0);
  request.number = pid_or_group;
  request.flags = static_cast<uint32_t>(signal);
  BJ_CO_CHECK(co_await ask(request, {}, {}, "signal"));
  co_return Result<void>();
}

Task<Result<Fd>> WardenClient::open(std::string path, int flags, unsigned mode, uid_t uid, gid_t gid, FileType wanted) {
  ward::Request request = path_request(ward::Op::kOpen, uid, gid);
  request.flags = static_cast<uint32_t>(flags);
  request.mode = mode;
  const std::string call = "open(" + path + ")";
  if (has_nul(path)) co_return fail(Code::kInvalid, "open: the path holds a NUL byte");
  BJ_CO_TRY(auto answer, co_await ask(request, terminated(path), {}, call));
  BJ_CO_CHECK(check_type(answer->descriptor, wanted, call));
  co_return std::move(answer->descriptor);
}

Task<Result<void>> WardenClient::make_directory(std::string path, unsigned mode, uid_t uid, gid_t gid) {
  ward::Request request = path_request(ward::Op::kMakeDirectory, uid, gid);
  request.mode = mode;
  BJ_CO_CHECK(co_await ask(request, terminated(path), {}, "mkdir(" + path + ")"));
  co_return Result<void>();
}

Task<Result<void>> WardenClient::rename(std::string from, std::string to, uid_t uid, gid_t gid) {
  const ward::Request request = path_request(ward::Op::kRename, uid, gid);
  BJ_CO_CHECK(co_await ask(request, terminated(from) + terminated(to), {}, "rename(" + from + ")"));
  co_return Result<void>();
}

Task<Result<void>> WardenClient::remove(std::string path, FileType type, uid_t uid, gid_t gid) {
  ward::Request request = path_request(ward::Op::kRemove, uid, gid);
  request.flags = type == FileType::kDirectory ? 1 : 0;
  BJ_CO_CHECK(co_await ask(request, terminated(path), {}, "remove(" + path + ")"));
  co_return Result<void>();
}

Task<Result<Fd>> WardenClient::watch(std::string path, uint32_t mask, uid_t uid, gid_t gid) {
  ward::Request request = path_request(ward::Op::kWatch, uid, gid);
  request.flags = mask;
  BJ_CO_TRY(auto answer, co_await ask(request, terminated(path), {}, "watch(" + path + ")"));
  BJ_CO_CHECK(check_type(answer->descriptor, FileType::kAny, "watch"));
  co_return std::move(answer->descriptor);
}

// By IPv4 first; a server that listens on ::1 only is found by IPv6.
Task<Result<Fd>> WardenClient::connect(uint16_t port) {
  const auto self = shared_from_this();
  const std::string call = "connect(port " + std::to_string(port) + ")";
  Result<Fd> first = fail(Code::kUnavailable, call);
  for (const uint32_t v6 : {0u, 1u}) {
    ward::Request request = path_request(ward::Op::kConnect, 0, 0);
    request.number = port;
    request.flags = v6;
    Result<std::shared_ptr<Answer>> answer = co_await ask(request, {}, {}, call);
    Result<Fd> socket = fail(Code::kUnavailable, call);
    if (answer) {
      socket = co_await connected(executor_, std::move((*answer)->descriptor), call);
    } else {
      socket = tl::unexpected(answer.error());
    }
    if (socket) co_return socket;
    if (v6 == 0) first = std::move(socket);
    if (first.error().sys != ECONNREFUSED) break;
  }
  co_return first;
}

Task<Result<void>> WardenClient::serve_sudo() {
  BJ_CO_CHECK(co_await ask(path_request(ward::Op::kServeSudo, 0, 0), {}, {}, "sudo"));
  co_return Result<void>();
}

}  // namespace bj
