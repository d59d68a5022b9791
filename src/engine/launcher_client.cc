#include "engine/launcher_client.h"

#include <cstring>

#include "base/within.h"

namespace bj {
namespace {

constexpr size_t kMaxAnswer = 4096;
constexpr auto kAnswerTime = std::chrono::seconds(60);  // many may have asked before, and each is one clone

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

launch::NetworkOf network_of(const LaunchRequest& request) {
  if (!request.own_network) return launch::NetworkOf::kLaunchers;
  return request.gated_network ? launch::NetworkOf::kGated : launch::NetworkOf::kSandbox;
}

tl::unexpected<Error> launch_failure(const launch::Answer& answer) {
  const std::string which(answer.what, strnlen(answer.what, sizeof answer.what));
  const Code code = code_of_errno(answer.error);
  return fail(code, "the sandbox could not be cloned: " + (which.empty() ? std::strerror(answer.error) : which),
              answer.error);
}

}  // namespace

LauncherClient::LauncherClient(const asio::any_io_executor& executor, Fd socket, bool keeps)
    : executor_(executor),
      socket_(std::make_shared<PacketSocket>(executor, std::move(socket), kMaxAnswer)),
      keeps_(keeps) {
  socket_->start([this](std::string_view bytes, std::vector<Fd> fds) { on_packet(bytes, std::move(fds)); },
                 [this] { on_closed(); });
}

LauncherClient::~LauncherClient() {
  socket_->close();
  on_closed();
}

void LauncherClient::on_packet(std::string_view bytes, std::vector<Fd> descriptors) {
  auto reply = std::make_shared<Reply>();
  if (bytes.size() < sizeof reply->answer) return;
  std::memcpy(&reply->answer, bytes.data(), sizeof reply->answer);
  if (listing_ && reply->answer.id == listing_->id) return on_listed(bytes, std::move(descriptors));
  reply->descriptors = std::move(descriptors);
  if (const auto found = waiting_.find(reply->answer.id); found != waiting_.end()) found->second->set(std::move(reply));
}

void LauncherClient::on_closed() {
  if (listing_) listing_->done->close();
  for (const auto& [id, waiter] : waiting_) waiter->close();
}

Task<Result<std::shared_ptr<LauncherClient::Reply>>> LauncherClient::ask(std::string message,
                                                                         std::vector<int> descriptors, uint32_t id) {
  auto waiter = std::make_shared<OneShot<std::shared_ptr<Reply>>>(executor_);
  waiting_.emplace(id, waiter);
  Result<std::shared_ptr<Reply>> reply = fail(Code::kInternal, "");
  if (const Result<void> sent = co_await socket_->deliver(std::move(message), std::move(descriptors)); !sent) {
    reply = tl::unexpected(sent.error());
  } else {
    reply = co_await get_within(waiter, kAnswerTime);
  }
  waiting_.erase(id);
  if (!reply) co_return fail(Code::kUnavailable, "the launcher does not answer: " + reply.error().what);
  co_return reply;
}

Task<Result<Launched>> LauncherClient::launch(const LaunchRequest& request) {
  launch::Create create{};
  create.header = {next_id(), launch::Kind::kCreate};
  create.step_count = static_cast<uint32_t>(request.plan->steps.size());
  create.strings_size = static_cast<uint32_t>(request.plan->strings.size());
  create.clone_flags = request.clone_flags;
  create.ids = request.ids;
  create.network = network_of(request);
  create.idmap_layers = request.idmap_layers ? 1 : 0;
  create.layer_count = static_cast<uint32_t>(request.layers.size());
  create.extra_count = static_cast<uint32_t>(request.extras.size());
  const std::vector<int> cgroups =
      request.cgroup_directory >= 0 ? std::vector<int>{request.cgroup_directory} : request.cgroup_files;
  create.cgroup_count = static_cast<uint32_t>(cgroups.size());
  create.born_in_cgroup = request.cgroup_directory >= 0 ? 1 : 0;
  create.runtimes_layer = request.runtimes_layer;
  if (create.layer_count > kMaxLayers || create.extra_count > kMaxExtraMounts || create.cgroup_count > kMaxCgroups) {
    co_return fail(Code::kInvalid, "too many layers or mounts for one sandbox");
  }
  for (size_t i = 0; i < request.layers.size(); ++i) create.layers[i] = request.layers[i];
  for (size_t i = 0; i < request.extras.size(); ++i) {
    create.extras[i] = request.extras[i].tree >= 0 ? launch::kPassedTree : request.extras[i].number;
    create.extra_writable[i] = request.extras[i].writable ? 1 : 0;
  }
  std::string message = bytes_of(create);
  message.append(reinterpret_cast<const char*>(request.plan->steps.data()), request.plan->steps.size() * sizeof(Step));
  message.append(request.plan->strings);
  std::vector<int> descriptors{request.control};
  descriptors.insert(descriptors.end(), cgroups.begin(), cgroups.end());
  for (const ExtraLayer& extra : request.extras) {
    if (extra.tree >= 0) descriptors.push_back(extra.tree);
  }

  BJ_CO_TRY(const auto reply, co_await ask(std::move(message), std::move(descriptors), create.header.id));
  if (reply->answer.error != 0) co_return launch_failure(reply->answer);
  Launched launched;
  launched.pid = reply->answer.value;
  std::vector<Fd*> places{&launched.pidfd};
  if (create.network == launch::NetworkOf::kGated) {
    for (Fd* end : launched.gate.all()) places.push_back(end);
  }
  if (reply->descriptors.size() != places.size()) co_return fail(Code::kInternal, "the launcher's answer is malformed");
  for (size_t i = 0; i < places.size(); ++i) *places[i] = std::move(reply->descriptors[i]);
  co_return launched;
}

Task<Result<uint16_t>> LauncherClient::add_layer(std::string path) {
  if (const auto known = layers_.find(path); known != layers_.end()) co_return known->second;
  const launch::Header header{next_id(), launch::Kind::kAddLayer};
  BJ_CO_TRY(const auto reply, co_await ask(bytes_of(header) + path, {}, header.id));
  if (reply->answer.error != 0) co_return fail_with(reply->answer.error, "mount(" + path + ")");
  const auto number = static_cast<uint16_t>(reply->answer.value);
  layers_.emplace(std::move(path), number);
  co_return number;
}

Task<Result<void>> LauncherClient::drop_layers(std::string path) {
  std::vector<uint32_t> numbers;
  std::erase_if(layers_, [&](const auto& known) {
    const bool below = known.first == path || known.first.starts_with(path + "/");
    if (below) numbers.push_back(known.second);
    return below;
  });
  Result<void> outcome;  // one that can't be dropped leaves the others to be
  for (const uint32_t number : numbers) {
    const launch::Header header{next_id(), launch::Kind::kDropLayer};
    BJ_CO_TRY(const auto reply, co_await ask(bytes_of(header) + bytes_of(number), {}, header.id));
    if (reply->answer.error != 0) outcome = fail_with(reply->answer.error, "unmount(" + path + ")");
  }
  co_return outcome;
}

}  // namespace bj
