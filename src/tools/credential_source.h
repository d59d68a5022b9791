// Where an organization's credentials come from: the store, else a file of that name. Calls and sandboxes ask here.
//
// Any thread; blocks.
#pragma once

#include <string>
#include <vector>

#include "store/store.h"
#include "tools/call_credential.h"
#include "tools/credential_files.h"

namespace bj {

class CredentialSource {
 public:
  // The store must outlive it.
  CredentialSource(Store& store, CredentialFiles files) : store_(store), files_(std::move(files)) {}

  // In the order of the names; one that the organization does not have is kNotFound.
  Result<CallCredentials> find(const std::string& organization, const std::vector<std::string>& names) const;

 private:
  Store& store_;
  CredentialFiles files_;
};

}  // namespace bj
