// Reads the whole chain and says whether it is what was written: the first event that is wrong, and in which way. The
// chain alone shows changes, gaps and moved events; signed heads, in the database and outside it, show a chain that was
// cut, rewritten or put back to an older state. Blocks; reads page by page, so a chain of any length fits into memory.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/signed_head.h"
#include "audit/signing_key.h"
#include "base/error.h"
#include "store/audit_table.h"

namespace bj {

enum class AuditFault {
  kChanged,       // an event is not what was hashed
  kGap,           // an event is missing
  kReordered,     // events were moved
  kRewritten,     // consistent in itself, but not what was signed, or not linked to what is before it
  kTruncated,     // the end is missing
  kBadSignature,  // a checkpoint is not signed by a known key
  kNoCheckpoint,  // a signed head that was kept is not among the checkpoints
  kNoKeptHead,    // what this installation keeps outside the database is gone
};
std::string_view fault_name(AuditFault fault);

struct AuditProblem {
  AuditFault fault = AuditFault::kChanged;
  int64_t sequence = 0;  // of the first event that is wrong or missing; 0: of what stands before the first
  std::string what;      // a sentence
};

struct AuditReport {
  int64_t events = 0;  // that were found right
  int64_t checkpoints = 0;
  int64_t signed_up_to = 0;             // the last event that a good signature covers
  std::optional<AuditProblem> problem;  // none: nothing is wrong
  std::vector<std::string> notes;       // no proof of anything, but worth a look
};

struct VerifyOptions {
  std::vector<PublicKey> keys;                  // whose signatures count
  std::vector<AuditCheckpointRow> known_heads;  // kept outside the database: they must be among the checkpoints
  std::optional<AuditCheckpointRow> last_end;   // the same after the last write: it must be in the chain
  std::string lost_heads_of;  // the id of the key whose heads should be kept, and are not; empty: all is there
  std::function<void(int64_t done, int64_t all)> progress;
};

// Fails only if the database can't be read.
Result<AuditReport> verify_chain(AuditTable& table, const VerifyOptions& options);

}  // namespace bj
