#include "control/image_collector.h"

#include "base/log.h"
#include "store/image_uses.h"

namespace bj {
namespace {

constexpr auto kBetween = std::chrono::minutes(10);

}  // namespace

ImageCollector::ImageCollector(const asio::any_io_executor& executor, Store& store, ImagePuller& puller,
                               std::function<Task<void>(std::string directory)> forget)
    : store_(store),
      puller_(puller),
      forget_(std::move(forget)),
      executor_(executor),
      wake_(executor),
      over_(executor) {}

void ImageCollector::start() {
  running_ = true;
  spawn(executor_, [this] { return keep_looking(); });
}

Task<void> ImageCollector::stop() {
  stopping_ = true;
  wake_.cancel();
  while (running_) co_await over_.wait();
}

void ImageCollector::look() {
  again_ = true;
  wake_.cancel();
}

Task<void> ImageCollector::keep_looking() {
  while (!stopping_) {
    again_ = false;
    co_await collect();
    wake_.expires_after(kBetween);
    if (!again_ && !stopping_) (void)co_await expired(wake_);
  }
  running_ = false;
  over_.tell();
}

Task<void> ImageCollector::collect() {
  const auto used = [this] { return used_images(store_.database()); };
  const Result<std::vector<std::string>> gone = co_await puller_.prune(used);
  if (!gone) log_warning("images_not_pruned", {{"why", gone.error().what}});
  if (!gone) co_return;
  for (const std::string& digest : *gone) {
    log_info("image_removed", {{"digest", digest}});
    co_await forget_(puller_.options().directory + "/" + digest);
  }
}

}  // namespace bj
