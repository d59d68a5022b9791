// Whoever makes a sandbox or a volume, or removes a volume, of one organization takes turns, so that together they
// can't pass its quota.
#pragma once

#include <string>

#include "base/error.h"

namespace bj {

class Transaction;

// Holds from here to the commit. kNotFound: there is no such organization.
Result<void> lock_organization(Transaction& transaction, const std::string& organization);

}  // namespace bj
