// The key of the first start, whatever other keys there are by then: kept in the data directory where only its owner
// reads it.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "base/secret.h"
#include "store/store.h"

namespace bj {

struct FirstKey {
  std::string file;
  Secret made;        // by this call; empty: it was there
  bool works = true;  // not if it was revoked, or made for another database
};

// Nothing if it was made before and its file is gone: somebody took it away.
Result<std::optional<FirstKey>> ensure_first_key(Store& store, const std::string& data_directory);

}  // namespace bj
