// What an environment is made from, and the name that follows from it. Pure functions: requirement strings are checked
// and brought into one form, then hashed together with the template, the interpreter and the index they come from.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "engine/calls/call.h"
#include "engine/environments/environment_index.h"

namespace bj {

// Sorted, without doubles. Python: `name`, `name[extra]`, with version clauses (`name==1.2`, `name>=1,<2`), names as
// the index compares them (lower case, one dash). TypeScript: `name`, `@scope/name`, with `@1.2`, `@"1.2"` or `@tag`.
// Anything else is refused with a sentence: options, URLs, paths, files, spaces, shell characters.
Result<std::vector<std::string>> normalize_requirements(Language language,
                                                        const std::vector<std::string>& requirements);

// 64 hex digits. Credentials are no part of it: with another password it is the same index.
std::string environment_key(Language language, const Template& image, const std::string& interpreter,
                            const std::vector<std::string>& normalized, const IndexSettings& index);

}  // namespace bj
