// What an environment is made from, and the name that follows from it. Pure functions: requirement strings checked and
// brought into one form, the settings of package indexes collected, credentials masked, all of it hashed.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engine/call.h"

namespace bj {

// Sorted, without doubles. Python: `name`, `name[extra]`, with version clauses (`name==1.2`, `name>=1,<2`), names as
// the index compares them (lower case, one dash). TypeScript: `name`, `@scope/name`, with `@version`, `@"1.2"` or
// `@tag`. Anything else is refused with a sentence: options, URLs, paths, spaces, shell characters, local files.
Result<std::vector<std::string>> normalize_requirements(Language language,
                                                        const std::vector<std::string>& requirements);

// Where packages come from: the few settings of pip and npm that reach the builder. May hold credentials: never log it.
struct IndexSettings {
  std::map<std::string, std::string> variables;  // PIP_INDEX_URL, HTTPS_PROXY, ... as the installer shall see them
  std::string npmrc;                             // the lines of .npmrc that say where packages are and who we are
  std::string certificates;                      // PEM, trusted beside the template's own; empty: none

  bool operator==(const IndexSettings&) const = default;
};

// From the server's own environment and its user's pip.conf and .npmrc; the environment wins. `read` returns a file's
// text, empty if there is none.
using ReadText = std::function<std::string(const std::string& path)>;
using LookUp = std::function<std::string(const std::string& name)>;
IndexSettings index_settings(const LookUp& environment, const ReadText& read);
// The same from the process as it is.
IndexSettings index_settings();

// "https://user:secret@host/simple" -> "https://****@host/simple", wherever it stands in the text; the values of npm's
// tokens and passwords too.
std::string mask_credentials(std::string_view text);

// 64 hex digits. Credentials are no part of it: a changed password is the same index.
std::string environment_key(Language language, const Template& image, const std::string& interpreter,
                            const std::vector<std::string>& normalized, const IndexSettings& index);

}  // namespace bj
