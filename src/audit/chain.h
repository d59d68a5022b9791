// The hash chain: every event carries the hash of the one before it, so that none can be changed, removed, added or
// moved without all that follow. The encoding is specified in docs/audit.md; it never changes, a new one gets a new
// name.
//
// Blocks, may be used by many threads: call it on the store's.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "store/audit_table.h"

namespace bj {

inline constexpr char kFirstPreviousHash[] = "0000000000000000000000000000000000000000000000000000000000000000";

// What is hashed: the previous hash and every field, each with its length in front.
std::string canonical_bytes(const AuditRow& row);
Result<std::string> event_hash(const AuditRow& row);  // hexadecimal

// Appends the events in their order, in this transaction, and yields the new end. Other writers wait until it ends.
// The first of them may be there already, because an earlier try has been committed unnoticed: those are left as they
// are, and what stands behind them in the list is appended.
Result<AuditLink> append(Transaction& transaction, std::vector<AuditRow>& events);
// The same in a transaction of its own: durable when it returns.
Result<AuditLink> append(AuditTable& table, std::vector<AuditRow>& events);

}  // namespace bj
