// The end of the chain at some moment, signed: who keeps one can later prove that what came before it was changed or
// cut.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "audit/signing_key.h"
#include "base/error.h"
#include "store/audit_table.h"

namespace bj {

// What is signed: the name of the format, sequence, hash and time (µs), each on a line.
std::string signed_text(const AuditCheckpointRow& head);
Result<AuditCheckpointRow> sign_head(const SigningKey& key, const AuditLink& head, int64_t now);
bool signature_holds(const PublicKey& key, const AuditCheckpointRow& head);

// {"sequence", "hash", "time_us", "key_id", "signature"}
boost::json::object head_json(const AuditCheckpointRow& head);
Result<AuditCheckpointRow> read_head(const std::string& json_text);

}  // namespace bj
