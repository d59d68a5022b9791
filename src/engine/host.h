// What all sandboxes of one engine share. Built once by Engine, on its thread; everything here stays on that thread
// except the pool.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async.h"
#include "base/turn.h"
#include "engine/cgroup_pool.h"
#include "engine/launcher_client.h"
#include "engine/uid_ranges.h"
#include "seal/abilities.h"
#include "seal/plan.h"

namespace bj {

struct Host {
  asio::any_io_executor executor;
  asio::thread_pool* workers = nullptr;  // for blocking work that is soon done: everybody waits for it
  asio::thread_pool* movers = nullptr;   // for what takes as long as there is data: copies of trees, the disk
  std::unique_ptr<Turn> copies;          // of live sandboxes' files: who waits for his turn does not stand still yet
  Abilities abilities;
  std::unique_ptr<LauncherClient> launcher;
  std::shared_ptr<CgroupPool> cgroups;
  std::shared_ptr<UidRanges> uids;  // null when rootless
  uint16_t runtimes_layer = 0;
#ifdef BELLJAR_TEST_SWITCHES
  std::string without;  // the control that mutation tests switch off, see test_switch.h
#endif
};

}  // namespace bj
