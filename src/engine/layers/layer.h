// What a sandbox has written: where it lies while the sandbox lives, and as a layer on disk (layer_store.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "engine/layers/layer_copy.h"
#include "engine/templates/template.h"
#include "seal/plan.h"

namespace bj {

// Where a sandbox's writes lie, for as long as somebody holds this.
struct UpperFiles {
  std::shared_ptr<const Fd> filesystem;
  std::vector<UpperPlace> places;
  IdShift ids;
};

struct Layer {
  std::string id;
  std::vector<TemplateLayer> trees;  // only of targets that were written to
  LayerCounts counts;
  bool durable = false;
  std::shared_ptr<const Fd> hold;  // keeps it from being removed
};

}  // namespace bj
