#include "store/organization_lock.h"

#include "store/sql.h"

namespace bj {

Result<void> lock_organization(Transaction& transaction, const std::string& organization) {
  BJ_TRY(const Rows rows,
         transaction.run("SELECT id FROM organizations WHERE id = $1" + std::string(for_update(transaction)),
                         {organization}));
  if (rows.rows.empty()) return fail_not_found("Organization", organization);
  return {};
}

}  // namespace bj
