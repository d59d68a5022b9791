#include "egress/name_resolver.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>

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

// Shared by the thread and whoever waits; the one that ends last frees it.
struct Question {
  std::string name;
  Fd done;  // an eventfd
  std::mutex mutex;
  Result<std::vector<IpAddress>> answer = fail(Code::kUnavailable, "");
};

void work(const std::shared_ptr<Question>& question) {
  Result<std::vector<IpAddress>> answer = ask(question->name);
  {
    const std::lock_guard lock(question->mutex);
    question->answer = std::move(answer);
  }
  const uint64_t one = 1;
  (void)!::write(question->done.get(), &one, sizeof one);
  --running;
}

}  // namespace

Task<Result<std::vector<IpAddress>>> NameResolver::resolve(std::string name) {
  auto question = std::make_shared<Question>();
  question->name = name;
  question->answer = fail(Code::kUnavailable, name + " was not resolved in time");
  question->done = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!question->done.ok()) co_return Result<std::vector<IpAddress>>(fail_errno("eventfd"));
  const int own = ::fcntl(question->done.get(), F_DUPFD_CLOEXEC, 0);
  if (own < 0) co_return Result<std::vector<IpAddress>>(fail_errno("fcntl(F_DUPFD_CLOEXEC)"));
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto done = std::make_shared<asio::posix::stream_descriptor>(executor, own);
  if (++running > kMostThreads) {
    --running;
    co_return fail(Code::kExhausted, "too many names are being resolved");
  }
  try {
    std::thread(work, question).detach();
  } catch (const std::system_error& error) {
    --running;
    co_return fail(Code::kExhausted, std::string("no thread to resolve a name with: ") + error.what());
  }
  asio::steady_timer timer(executor, kPatience);
  timer.async_wait([done](const boost::system::error_code& error) {
    if (!error) done->cancel();
  });
  (void)co_await readable(*done);
  timer.cancel();
  const std::lock_guard lock(question->mutex);
  co_return std::move(question->answer);
}

}  // namespace bj
