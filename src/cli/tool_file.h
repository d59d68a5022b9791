// What `belljar run` reads before there is a sandbox: the tool's source, its arguments, the packages it may import.
// Failures are the user's to mend: one sentence each.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "engine/calls/call.h"

namespace bj {

// By the file's ending.
Result<Language> language_of(const std::string& path);

// A regular file of UTF-8 text, at most `limit_bytes` long.
Result<std::string> read_tool(const std::string& path, uint64_t limit_bytes);

// `text`: a JSON object, "@FILE" or "-" for stdin.
Result<boost::json::object> read_arguments(const std::string& text, uint64_t limit_bytes);

// The directory of a virtual environment (or the directory itself) that holds packages, without symlinks in its path.
Result<std::string> packages_directory(const std::string& path);

// Debian's own package directories, those that exist, as the base template shows them.
std::vector<std::string> system_packages();

}  // namespace bj
