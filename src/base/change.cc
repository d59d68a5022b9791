#include "base/change.h"

namespace bj {

void Change::tell() {
  for (asio::steady_timer* timer : *waiting_) timer->cancel();
}

Task<void> Change::wait_until(Clock::time_point latest) {
  struct Place {
    Place(std::shared_ptr<Waiting> among, asio::steady_timer& timer)
        : all(std::move(among)), mine(all->insert(all->end(), &timer)) {}
    ~Place() { all->erase(mine); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    std::shared_ptr<Waiting> all;
    Waiting::iterator mine;
  };
  asio::steady_timer timer(executor_, latest);
  const Place place(waiting_, timer);
  (void)co_await expired(timer);
}

}  // namespace bj
