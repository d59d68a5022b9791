// The template that attacks run in. `base` is made like any other, but in a directory of its own and while a file that
// only the host's root may read lies below /usr, so that there is something for 03_root_only_files to look for.
#pragma once

#include <optional>
#include <string>

#include "engine/templates/template.h"
#include "selftest/canary.h"

namespace bj::selftest {

struct AttackBase {
  Template image;
  std::optional<Canary> secret;  // none without root, or where /usr can't be written to

  static Result<AttackBase> make(const TemplateStore& store, const std::string& name);
};

}  // namespace bj::selftest
