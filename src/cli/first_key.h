// The key of the first start: made when there is none, kept in the data directory where only its owner reads it.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "store/store.h"

namespace bj {

struct FirstKey {
  std::string file;
  bool made = false;  // by this call
  bool works = true;  // not if it was revoked, or made for another database
};

// Nothing if there are keys but no file: somebody took it away.
Result<std::optional<FirstKey>> ensure_first_key(Store& store, const std::string& data_directory);

}  // namespace bj
