// Credentials in files, for operators who keep secrets outside the database: a directory with a file NAME.json each,
// which only its owner may read.
//
//   {"hosts": ["api.example.com"], "header": "Authorization", "format": "Bearer {}", "value": "..."}
//   {"hosts": ["api.example.com"], "header": "X-Api-Key", "value_file": "key.txt", "organization": "org-..."}
//
// `value_file` is a path, relative to the directory unless absolute; line ends behind the value don't count. Without
// `organization` it is the default organization's. Read at each call that names it, so that a changed file counts at
// once. Blocks.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "tools/call_credential.h"

namespace bj {

class CredentialFiles {
 public:
  CredentialFiles() = default;  // there are none
  explicit CredentialFiles(std::string directory) : directory_(std::move(directory)) {}

  // Nothing: there is none of that name, or it is another organization's.
  Result<std::optional<CallCredential>> find(const std::string& organization, const std::string& name) const;

 private:
  std::string directory_;
};

}  // namespace bj
