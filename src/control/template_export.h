// A template as a file that other tools read: a docker-archive with one layer, which `belljar template import`, docker
// load, podman and skopeo take. What the template shows is packed inside a sandbox made of it, by its own tar; here
// bytes are passed on and counted. A tar says the size of a file before its contents, so the archive is put together in
// a nameless file on disk, in pieces, before anybody gets it.
//
// There is no limit of time as long as bytes come.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/template_catalog.h"
#include "engine/engine.h"

namespace bj {

struct ExportedTemplate {
  std::shared_ptr<Fd> file;  // nameless: gone with this
  uint64_t size = 0;
};

// What the archive of a template holds beyond what its name lets expect; empty: nothing.
std::string what_is_exported(const TemplateContent& content);

// Told on the engine's thread, every second: how much is packed. False: nobody wants it any more, and it ends.
using ExportProgress = std::function<bool(uint64_t bytes)>;

// Stays on the engine's thread.
class TemplateExporter {
 public:
  // `directory`: where the file lies while it is made.
  TemplateExporter(Engine& engine, std::string directory, Limits limits, uint64_t most_bytes = 64ull << 30)
      : engine_(engine), directory_(std::move(directory)), limits_(limits), most_bytes_(most_bytes) {}

  // An organization has so many archives at a time, packed or being packed, wherever they are held. kExhausted: it has
  // them.
  static constexpr int kMostArchives = 4;
  Task<Result<ExportedTemplate>> export_archive(std::string organization, ResolvedTemplate from, std::string name,
                                                ExportProgress progress);
  // Keeps an archive for a while, for whoever fetches it under the id that this yields.
  std::string keep(const std::string& organization, ExportedTemplate archive);
  std::optional<ExportedTemplate> kept(const std::string& organization, const std::string& id) const;
  // Ends what is going on, and lets nothing more begin.
  void stop();

 private:
  struct Kept {
    std::string organization;
    ExportedTemplate archive;
    std::shared_ptr<asio::steady_timer> end;
  };

  Result<std::shared_ptr<Fd>> new_archive(const std::string& organization);
  Task<Result<uint64_t>> pack(Template image, std::shared_ptr<Fd> into, std::string& digest, ExportProgress progress);

  Engine& engine_;
  std::string directory_;
  Limits limits_;
  uint64_t most_bytes_;
  std::vector<std::weak_ptr<Sandbox>> packing_;
  std::vector<std::pair<std::string, std::weak_ptr<Fd>>> archives_;  // with whose it is
  std::map<std::string, Kept> kept_;
  bool stopping_ = false;
};

}  // namespace bj
