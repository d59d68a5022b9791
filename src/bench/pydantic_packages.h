// Packages for the rows that need pydantic: installed once with pip into the scratch directory.
#pragma once

#include <string>

#include "base/async.h"

namespace bj {

// The site-packages directory that has it.
Task<Result<std::string>> pydantic_packages(asio::any_io_executor executor, std::string scratch);

}  // namespace bj
