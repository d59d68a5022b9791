// A credential as our API and `belljar credential list --json` show it: never its value.
#pragma once

#include <boost/json/object.hpp>

#include "store/rows.h"

namespace bj::native {

boost::json::object credential_json(const CredentialRow& credential);

}  // namespace bj::native
