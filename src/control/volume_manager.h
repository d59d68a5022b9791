// Volumes of organizations: made, found, removed, mounted into sandboxes, looked into. A volume is a disk of its own
// (engine/volume_disk.h) below <data>/volumes. Its files are reached through a sandbox that has nothing but the volume,
// made when it is asked for and ended when it was idle: no host code resolves a path in it.
//
// Stays on the server's thread; the database and the disk are asked on other threads.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "audit/audit_log.h"
#include "control/sandbox_wishes.h"
#include "engine/engine.h"
#include "engine/sandbox_files.h"
#include "store/sandbox_table.h"
#include "store/store.h"
#include "store/volume_table.h"

namespace bj {

struct VolumeOptions {
  std::string directory;  // of the disks
  std::string machine;    // this one's name
  VolumeShare quota{100, int64_t{100} << 30};
  int64_t usual_bytes = int64_t{1} << 30;
};

class VolumeManager {
 public:
  // The referenced must outlive it.
  VolumeManager(Engine& engine, Store& store, asio::thread_pool& threads, AuditLog& audit, VolumeOptions options);

  // Finishes or undoes what a crash left.
  Task<Result<void>> start();
  // Ends the sandboxes that it looks through.
  Task<void> stop();

  Task<Result<VolumeRow>> create(Actor actor, std::string name, std::optional<int64_t> size_bytes);
  Task<Result<VolumeRow>> get(std::string organization, std::string id);
  Task<Result<std::vector<VolumeRow>>> list(std::string organization, Page page);
  Task<Result<void>> remove(Actor actor, std::string id);

  // Names become ids; the paths are checked. kUnprocessable: there is no such volume.
  Task<Result<void>> resolve(std::string organization, std::vector<VolumeWish>& wishes);
  // What a sandbox gets mounted. Blocks: call it on a worker.
  Result<std::vector<MountSpec>> mounts_of(const SandboxRow& row) const;

  // The volume's files, at kTop. `user` root acts as root inside. Valid as long as it is held.
  static constexpr const char* kTop = "/volume";
  Task<Result<std::shared_ptr<SandboxFiles>>> files(std::string organization, std::string id);

 private:
  struct Window {
    std::shared_ptr<Sandbox> sandbox;
    std::shared_ptr<SandboxFiles> files;
    Clock::time_point used;
  };

  std::string disk_of(const std::string& id) const { return options_.directory + "/" + id; }
  bool is_here(const std::string& id) const;
  Task<Result<void>> make_disk(VolumeRow row);
  Task<Result<Window>> open_window(VolumeRow row);
  Task<void> close_window(std::string id);
  // To make room for another. kBusy: all of them are in use.
  Task<Result<void>> close_oldest();
  Task<void> close_idle();
  void receipt(const Actor& actor, const std::string& action, const VolumeRow& row, bool done);

  Engine& engine_;
  asio::thread_pool& threads_;
  AuditLog& audit_;
  VolumeOptions options_;
  VolumeTable volumes_;
  std::map<std::string, Window> windows_;
  asio::steady_timer idle_;
  bool watching_ = false;
};

}  // namespace bj
