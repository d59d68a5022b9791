// Removes pulled images that no template and no sandbox refers to any more: when the server starts, after a template
// was removed, and now and then, for what sandboxes that have ended used.
//
// Stays on the server's thread; the database is asked on the store's threads.
#pragma once

#include <functional>
#include <string>

#include "base/async.h"
#include "base/change.h"
#include "images/image_puller.h"
#include "store/store.h"

namespace bj {

class ImageCollector {
 public:
  // The referenced must outlive it. `forget`: whoever has prepared something of an image's files lets go of it.
  ImageCollector(const asio::any_io_executor& executor, Store& store, ImagePuller& puller,
                 std::function<Task<void>(std::string directory)> forget);

  // Looks at once, then now and then, until stop().
  void start();
  Task<void> stop();
  // Something may have become useless: looks soon.
  void look();

 private:
  Task<void> keep_looking();
  Task<void> collect();

  Store& store_;
  ImagePuller& puller_;
  std::function<Task<void>(std::string directory)> forget_;
  asio::any_io_executor executor_;
  asio::steady_timer wake_;
  Change over_;  // told at the end
  bool running_ = false;
  bool stopping_ = false;
  bool again_ = false;
};

}  // namespace bj
