// What a sandbox's root is made from: a root of the machine, layers above it, defaults (template_content.h). Kept as
// text in the sandbox's row, so that it does not matter what becomes of the template's name. A sandbox that was made
// from a root of the machine alone, and has written nothing that is kept, has none.
#pragma once

#include <string>
#include <vector>

#include "control/template_content.h"
#include "store/sandbox_table.h"

namespace bj {

struct SandboxImage {
  TemplateContent content;
  bool single = false;  // made for one sandbox: no others like it will be asked for
  std::string template_id{},
      template_name{};  // what was asked for by whichever name; empty: the machine's own, by name

  // The same with one more layer on top.
  SandboxImage with(const std::string& layer) const;
};

std::string image_text(const SandboxImage& image);
// Of the row; one that has none is made from the root that its template's name says.
Result<SandboxImage> image_of(const SandboxRow& row);
// All that the row refers to: its image's, and its spare image's. None if they can't be read.
std::vector<std::string> layers_of(const SandboxRow& row);

}  // namespace bj
