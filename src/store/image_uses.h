// Which pulled images somebody refers to: templates' builds, and sandboxes that live or can be started again. What
// cached steps began with does not count: they are forgotten when it is gone.
#pragma once

#include <set>
#include <string>

#include "base/error.h"
#include "store/database.h"

namespace bj {

// Their digests, 64 hex digits each.
Result<std::set<std::string>> used_images(Database& database);

}  // namespace bj
