// Directories that are watched: as a stream, or with events kept until they are fetched (E2B's synchronous Python
// client).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/e2b/envd.h"
#include "engine/tree_watch.h"

namespace bj::e2b {

// Does something when a sandbox has ended, unless this is destroyed before.
class AtEnd {
 public:
  AtEnd(const asio::any_io_executor& executor, std::shared_ptr<HeldSandbox> sandbox, std::function<void()> then);
  ~AtEnd();
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// What was changed lately in a directory. Bounded: who never fetches loses the oldest.
struct KeptWatch {
  std::shared_ptr<TreeWatch> changes;
  std::deque<boost::json::object> events;
  bool over = false;
  bool gone = false;  // with its sandbox: nobody can ask for it any more
  std::optional<AtEnd> at_end;
};

// The watches of all sandboxes whose events are kept, by sandbox and id; those of a sandbox that is gone end by
// themselves, and are forgotten when the next one is added. Stays on the server's thread.
class KeptWatches {
 public:
  static constexpr size_t kMostOfASandbox = 64;

  // The id; nothing: there are too many.
  std::optional<std::string> add(const std::string& sandbox, std::shared_ptr<KeptWatch> watch);
  std::shared_ptr<KeptWatch> find(const std::string& sandbox, const std::string& id) const;
  bool remove(const std::string& sandbox, const std::string& id);

 private:
  std::map<std::string, std::map<std::string, std::shared_ptr<KeptWatch>>> watches_;
};

Task<std::optional<RpcError>> watch_dir(const EnvdCall& call, RpcStream& stream);
Task<RpcResult<boost::json::object>> create_watcher(const EnvdCall& call);
Task<RpcResult<boost::json::object>> watcher_events(const EnvdCall& call);
Task<RpcResult<boost::json::object>> remove_watcher(const EnvdCall& call);

}  // namespace bj::e2b
