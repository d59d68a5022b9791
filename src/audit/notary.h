// Signs the end of the chain. After every write the signed end is kept in a file of the data directory (audit.tail),
// outside the database: a database that was cut or put back to an older state no longer has it. Now and then it is
// stored as a checkpoint too, and kept in another file (audit.head), which is on the disk when it is.
//
// If what a file keeps is not in the chain, nothing is signed any more, so that the evidence stays: somebody must look,
// and remove the files if the database was put back on purpose. Blocks, may be used by many threads and processes.
#pragma once

#include <optional>
#include <string>

#include "audit/signed_head.h"
#include "audit/signing_key.h"
#include "base/error.h"
#include "store/audit_table.h"

namespace bj {

class Notary {
 public:
  // Reads <data directory>/audit.key, or makes it.
  static Result<Notary> open(const std::string& data_directory);

  const PublicKey& public_key() const { return key_.public_key(); }
  // The head of the last checkpoint, and the end after the last write, as the files keep them; none before the first.
  Result<std::optional<AuditCheckpointRow>> kept() const;
  Result<std::optional<AuditCheckpointRow>> kept_end() const;
  // The chain ends there now. An end that is older than the one which is kept changes nothing.
  Result<void> keep_end(const AuditLink& end) const;
  // Signs what is there now. Yields the signed head; of an empty chain one with sequence 0, which is not kept.
  Result<AuditCheckpointRow> checkpoint(AuditTable& table) const;

 private:
  Notary(std::string data_directory, SigningKey key) : directory_(std::move(data_directory)), key_(std::move(key)) {}
  Result<void> check_kept(AuditTable& table) const;
  Result<std::optional<AuditCheckpointRow>> read(const char* name) const;
  Result<void> replace_end(const AuditLink& end) const;

  std::string directory_;
  SigningKey key_;
};

}  // namespace bj
