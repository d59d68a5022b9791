#include "api/native/credential_json.h"

#include "api/time_text.h"
#include "tools/stored_json.h"

namespace bj::native {

boost::json::object credential_json(const CredentialRow& credential) {
  return {{"id", credential.id},
          {"name", credential.name},
          {"binding", stored_json(credential.binding)},
          {"created_at", time_text(credential.stamp.created_at)},
          {"updated_at", time_text(credential.stamp.updated_at)}};
}

}  // namespace bj::native
