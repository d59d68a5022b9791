// Signs the end of the chain now and then. The signed head is stored as a checkpoint and kept in a file of the data
// directory too, outside the database: a database that was cut or put back to an older state no longer has it.
//
// If the file's head is not in the chain, nothing is signed any more, so that the evidence stays: somebody must look,
// and remove the file if the database was put back on purpose. Blocks, may be used by many threads and processes.
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
  // The head that the file keeps; none before the first.
  Result<std::optional<AuditCheckpointRow>> kept() const;
  // Signs what is there now. Yields the signed head; of an empty chain one with sequence 0, which is not kept.
  Result<AuditCheckpointRow> checkpoint(AuditTable& table) const;

 private:
  Notary(std::string data_directory, SigningKey key) : directory_(std::move(data_directory)), key_(std::move(key)) {}
  Result<void> check_kept(AuditTable& table) const;

  std::string directory_;
  SigningKey key_;
};

}  // namespace bj
