// Results of executed code as the APIs show them: each representation under a short name (text, html, png, chart, ...),
// those of other types under `extra`.
#pragma once

#include <boost/json/object.hpp>

#include "engine/calls/execution.h"

namespace bj {

boost::json::object representations_json(boost::json::object by_type);
boost::json::object execution_error_json(const ExecutionError& error);

}  // namespace bj
