#include "api/client_watch.h"

namespace bj {
namespace {

constexpr auto kLook = std::chrono::seconds(1);

}  // namespace

struct ClientWatch::State {
  State(const asio::any_io_executor& executor, std::function<bool()> its_gone, std::function<void()> its_leave)
      : timer(executor), gone(std::move(its_gone)), leave(std::move(its_leave)) {}

  asio::steady_timer timer;
  std::function<bool()> gone;
  std::function<void()> leave;
  bool over = false;
};

ClientWatch::ClientWatch(const asio::any_io_executor& executor, std::function<bool()> gone, std::function<void()> leave)
    : state_(std::make_shared<State>(executor, std::move(gone), std::move(leave))) {
  spawn(executor, [state = state_]() -> Task<void> {
    while (!state->over && !state->gone()) {
      state->timer.expires_after(kLook);
      (void)co_await expired(state->timer);
    }
    if (!state->over) state->leave();
  });
}

ClientWatch::~ClientWatch() {
  state_->over = true;
  state_->timer.cancel();
}

}  // namespace bj
