// The engine's side of the launcher: asks for sandboxes to be cloned and template layers to be mounted.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "engine/packets.h"
#include "launcher/gated_network.h"
#include "launcher/wire.h"
#include "seal/plan.h"

namespace bj {

struct Launched {
  Fd pidfd;
  int pid = 0;
  GateEndpoints gate;  // of a gated network
};

// One layer or mount as the launcher knows it.
struct ExtraLayer {
  uint16_t number = 0;
  bool writable = false;
  int tree = -1;  // instead of a number: a detached mount
};

struct LaunchRequest {
  const Plan* plan = nullptr;
  uint64_t clone_flags = 0;
  IdMap ids;
  bool own_network = true;
  bool gated_network = false;  // instead: the launch answers with the gate's ends
  bool idmap_layers = true;
  std::vector<uint16_t> layers;
  std::vector<ExtraLayer> extras;
  uint16_t runtimes_layer = 0;
  int control = -1;
  std::vector<int> cgroup_files;
  int cgroup_directory = -1;  // instead of them: what it is to be born in
};

// What the keeper had under a key.
struct KeptThing {
  std::string key;
  std::string note;
  std::vector<Fd> descriptors;
};

struct KeepRequest {
  std::string note;
  std::vector<int> descriptors;  // the caller's own; the keeper gets copies. At most launch::kMaxKept
  bool is_life = false;          // the first is a pidfd; see keeper.h
  int64_t deadline_us = 0;       // of a life, since the epoch; 0: none
};

class LauncherClient {
 public:
  // `keeps`: it has a door, so that what it is told to keep can be found again.
  LauncherClient(const asio::any_io_executor& executor, Fd socket, bool keeps);
  ~LauncherClient();

  // Descriptors that outlive this process, under a key ("sandbox", "sandbox/part"): all return at once. What was
  // said stays said if this process dies, from all_told() on. Nothing is kept, and nothing fails, where `keeps` is
  // false.
  bool keeps() const { return keeps_; }
  void keep(const std::string& key, const KeepRequest& request);
  void move_deadline(const std::string& key, int64_t deadline_us);
  // And what is below it.
  void forget(const std::string& key);
  Task<void> all_told() { return socket_->all_sent(); }
  Task<Result<std::vector<KeptThing>>> list();

  Task<Result<Launched>> launch(const LaunchRequest& request);
  // The same host path is mounted once; later calls get the same number.
  Task<Result<uint16_t>> add_layer(std::string path);
  // Of a host path that is about to be removed, and of everything below it. Sandboxes that have it keep it.
  Task<Result<void>> drop_layers(std::string path);

 private:
  struct Reply {
    launch::Answer answer{};
    std::vector<Fd> descriptors;
  };
  using Waiter = std::shared_ptr<OneShot<std::shared_ptr<Reply>>>;

  void on_packet(std::string_view bytes, std::vector<Fd> descriptors);
  void on_closed();
  Task<Result<std::shared_ptr<Reply>>> ask(std::string message, std::vector<int> descriptors, uint32_t id);
  uint32_t next_id() { return ++last_id_; }
  void tell(launch::Kind kind, const std::string& key, launch::Keep keep, std::vector<Fd> descriptors);
  void on_listed(std::string_view bytes, std::vector<Fd> descriptors);

  struct Listing {
    uint32_t id;
    std::vector<KeptThing> things;
    std::shared_ptr<OneShot<int>> done;
  };

  asio::any_io_executor executor_;
  std::shared_ptr<PacketSocket> socket_;
  uint32_t last_id_ = 0;
  std::map<uint32_t, Waiter> waiting_;
  std::map<std::string, uint16_t> layers_;
  bool keeps_;
  std::optional<Listing> listing_;
};

}  // namespace bj
