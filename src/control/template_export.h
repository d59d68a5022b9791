// A template as a file that other tools read: a docker-archive with one layer, which `belljar template import`, docker
// load, podman and skopeo take. What the template shows is packed inside a sandbox made of it, by its own tar; here
// bytes are passed on and counted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/template_catalog.h"
#include "engine/engine.h"

namespace bj {

struct ExportedTemplate {
  std::shared_ptr<Fd> file;  // nameless: gone with this
  uint64_t size = 0;
};

// Stays on the engine's thread.
class TemplateExporter {
 public:
  // `directory`: where the file lies while it is made.
  TemplateExporter(Engine& engine, std::string directory, Limits limits, uint64_t most_bytes = 7ull << 30)
      : engine_(engine), directory_(std::move(directory)), limits_(limits), most_bytes_(most_bytes) {}

  Task<Result<ExportedTemplate>> export_archive(ResolvedTemplate from, std::string name);
  // Ends what is going on, and lets nothing more begin.
  void stop();

 private:
  Task<Result<uint64_t>> pack(Template image, std::shared_ptr<Fd> into, std::string& digest);

  Engine& engine_;
  std::string directory_;
  Limits limits_;
  uint64_t most_bytes_;
  std::vector<std::weak_ptr<Sandbox>> packing_;
  bool stopping_ = false;
};

}  // namespace bj
