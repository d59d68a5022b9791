// Whom a command acts for: --organization NAME, else the default organization.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "base/actor.h"
#include "store/store.h"

namespace bj {

// An administrator of the organization of that name or id; empty: of the default one. kNotFound if there is none.
Result<Actor> actor_in(Store& store, const std::string& organization);
// The same; it is made if there is none.
Result<Actor> ensure_actor_in(Store& store, const std::string& organization);

// The id of the organization's user of that name or id; he is made if there is none.
Result<std::string> ensure_user(Store& store, const std::string& organization, const std::string& name);

void add_organization_flag(CLI::App& command, std::string& into);

}  // namespace bj
