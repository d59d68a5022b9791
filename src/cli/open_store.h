// The store as the settings describe it. Commands that need no sandbox open it and nothing else; a server that runs at
// the same time sees their changes.
#pragma once

#include <functional>
#include <memory>

#include "base/actor.h"
#include "cli/settings.h"
#include "store/store.h"

namespace bj {

StoreOptions store_options(const Settings& settings);

// Who may read the data directory is its owner.
Actor local_actor();

// Opens the store, does the work, tells what went wrong; the exit status.
int with_store(const Settings& settings, const std::function<Result<void>(Store&)>& work);

}  // namespace bj
