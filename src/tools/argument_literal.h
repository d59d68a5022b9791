// The table of literals that Letta's generated scripts contain for a call's arguments. A schema's type and a value
// become source text, or the exception that Letta raises instead.
//
// Strings given for numbers, arrays and objects come out verbatim, as code: never put these texts into a script that
// runs. Our scripts carry arguments as data (remote_script.h); these functions tell what Letta would accept and say.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "tools/result_frame.h"

namespace bj {

// `type`: the schema's, which hostile callers can make anything.
PythonResult<std::string> python_argument_literal(const boost::json::value& type, const boost::json::value& value);
PythonResult<std::string> typescript_argument_literal(const boost::json::value& type, const boost::json::value& value);

}  // namespace bj
