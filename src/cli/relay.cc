#include "cli/relay.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sys/bytes.h"
#include "sys/wait.h"

namespace bj {
namespace {

// POLLOUT on a pipe promises that so much can be written without waiting (PIPE_BUF).
constexpr size_t kPiece = 4096;

// False: stopped.
bool wait_for(int fd, short events, int stop) {
  pollfd waiting[2] = {{fd, events, 0}, {stop, POLLIN, 0}};
  return wait_for_events(waiting, -1) && waiting[1].revents == 0;
}

bool write_piece(int to, std::string_view piece, int stop) {
  while (!piece.empty()) {
    if (!wait_for(to, POLLOUT, stop)) return false;
    const Moved written = write_some(to, piece.substr(0, kPiece));
    if (!written.ok() && !written.not_now()) return false;
    piece.remove_prefix(written.size);
  }
  return true;
}

}  // namespace

Relay::Relay(const asio::any_io_executor& executor, int from, int to, Filter filter)
    : stop_(::eventfd(0, EFD_CLOEXEC)), done_(std::make_shared<OneShot<int>>(executor)) {
  start(executor, from, to, std::move(filter));
}

Relay::Relay(const asio::any_io_executor& executor, Fd from, int to, Filter filter)
    : stop_(::eventfd(0, EFD_CLOEXEC)), owned_(std::move(from)), done_(std::make_shared<OneShot<int>>(executor)) {
  start(executor, owned_.get(), to, std::move(filter));
}

void Relay::start(const asio::any_io_executor& executor, int from, int to, Filter filter) {
  // The io_context must not run out of work while the thread still has something to say.
  auto guard = asio::prefer(executor, asio::execution::outstanding_work.tracked);
  thread_ = std::thread([this, from, to, filter = std::move(filter), guard = std::move(guard), done = done_] {
    copy(from, to, filter);
    owned_.reset();
    asio::post(guard, [done] { done->set(0); });
  });
}

Relay::~Relay() {
  stop();
  thread_.join();
}

void Relay::stop() {
  const uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
}

Task<void> Relay::ended() { (void)co_await done_->get(); }

void Relay::copy(int from, int to, const Filter& filter) const {
  char buffer[64 * 1024];
  while (wait_for(from, POLLIN, stop_.get())) {
    const Moved read = read_some(from, buffer, sizeof buffer);
    if (read.not_now()) continue;
    if (read.size == 0) return;  // the end; of a terminal, EIO
    const std::string_view piece(buffer, read.size);
    if (!write_piece(to, filter ? filter(piece) : std::string(piece), stop_.get())) return;
  }
}

}  // namespace bj
