// Receipts of what commands change without a server: written and signed before the command says that it is done.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "base/actor.h"
#include "store/store.h"

namespace bj {

Result<void> record_act(Store& store, const std::string& data_directory, Actor actor, std::string action,
                        std::string subject, boost::json::object detail = {});

}  // namespace bj
