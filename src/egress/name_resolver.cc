#include "egress/name_resolver.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "launcher/gate_control.h"
#include "sys/duplicate.h"

namespace bj {
namespace {

std::atomic<int> running{0};

std::optional<IpAddress> address_of(const sockaddr* from) {
  if (from->sa_family == AF_INET) {
    uint8_t bytes[4];
    std::memcpy(bytes, &reinterpret_cast<const sockaddr_in*>(from)->sin_addr, sizeof bytes);
    return IpAddress::v4(bytes);
  }
  if (from->sa_family != AF_INET6) return {};
  std::array<uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(from)->sin6_addr, bytes.size());
  return IpAddress::v6(bytes);
}

Result<std::vector<IpAddress>> ask(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  // A dot at the end keeps the host's search list out of it, but then its hosts file doesn't know the name.
  const int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &found);
  if (error != 0) return fail(Code::kNotFound, name + " can't be resolved: " + ::gai_strerror(error));
  std::vector<IpAddress> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const std::optional<IpAddress> address = address_of(one->ai_addr);
    if (address && std::find(addresses.begin(), addresses.end(), *address) == addresses.end()) {
      addresses.push_back(*address);
    }
  }
  ::freeaddrinfo(found);
  if (addresses.empty()) return fail(Code::kNotFound, name + " has no address");
  return addresses;
}

// Threads that run, of the process and of one resolver. Counted until the thread ends, which may be after its resolver.
class Places {
 public:
  static std::optional<Places> take(std::shared_ptr<std::atomic<int>> own) {
    if (++running <= NameResolver::kMostThreads) return Places(std::move(own));
    --running;
    return {};
  }
  Places(Places&& other) noexcept : own_(std::exchange(other.own_, nullptr)) {}
  ~Places() {
    if (!own_) return;
    --*own_;
    --running;
  }

 private:
  explicit Places(std::shared_ptr<std::atomic<int>> own) : own_(std::move(own)) { ++*own_; }
  std::shared_ptr<std::atomic<int>> own_;
};

// Shared by the thread and whoever waits; the one that ends last frees it.
struct Question {
  std::string name;
  NameResolver::Ask ask;
  Fd done;  // an eventfd
  std::mutex mutex;
  Result<std::vector<IpAddress>> answer = fail(Code::kUnavailable, "");
};

void work(const std::shared_ptr<Question>& question, std::optional<Places> places) {
  Result<std::vector<IpAddress>> answer = question->ask(question->name);
  {
    const std::lock_guard lock(question->mutex);
    question->answer = std::move(answer);
  }
  places.reset();  // before whoever waits for a place is woken
  const uint64_t one = 1;
  (void)!::write(question->done.get(), &one, sizeof one);
}

}  // namespace

NameResolver::NameResolver(const asio::any_io_executor& executor) : NameResolver(executor, ask) {}

NameResolver::NameResolver(const asio::any_io_executor& executor, Ask ask)
    : ask_(std::move(ask)), answered_(executor) {}

// A thread that outlasts its question's time wakes nobody, so that is looked for now and then.
Task<bool> NameResolver::turn(Clock::time_point deadline) {
  constexpr auto kNowAndThen = std::chrono::milliseconds(100);
  while (gate_keeps(GateControl::kTurns) && *asking_ >= kShare) {
    if (Clock::now() >= deadline) co_return false;
    co_await answered_.wait_until(Clock::now() + kNowAndThen);
  }
  co_return true;
}

Task<Result<std::vector<IpAddress>>> NameResolver::resolve(std::string name) {
  const auto deadline = Clock::now() + kPatience;
  if (!co_await turn(deadline)) co_return fail(Code::kExhausted, "too many names are being resolved for this sandbox");
  auto question = std::make_shared<Question>();
  question->name = name;
  question->ask = ask_;
  question->answer = fail(Code::kUnavailable, name + " was not resolved in time");
  question->done = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!question->done.ok()) co_return Result<std::vector<IpAddress>>(fail_errno("eventfd"));
  BJ_CO_TRY(Fd own, duplicate(question->done.get()));
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto done = std::make_shared<asio::posix::stream_descriptor>(executor, own.release());
  std::optional<Places> places = Places::take(asking_);
  if (!places) co_return fail(Code::kExhausted, "too many names are being resolved");
  try {
    std::thread(work, question, std::move(places)).detach();
  } catch (const std::system_error& error) {
    co_return fail(Code::kExhausted, std::string("no thread to resolve a name with: ") + error.what());
  }
  asio::steady_timer timer(executor, deadline);
  timer.async_wait([done](const boost::system::error_code& error) {
    if (!error) done->cancel();
  });
  (void)co_await readable(*done);
  timer.cancel();
  answered_.tell();
  const std::lock_guard lock(question->mutex);
  co_return std::move(question->answer);
}

}  // namespace bj
