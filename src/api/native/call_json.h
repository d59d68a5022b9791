// A call's record as our API and `belljar calls --json` show it.
#pragma once

#include <boost/json/object.hpp>

#include "api/time_text.h"
#include "store/rows.h"

namespace bj::native {

boost::json::object call_json(const CallRow& call);

}  // namespace bj::native
