#include "audit/signed_head.h"

#include <fmt/format.h>

#include <boost/json/parse.hpp>

#include "store/crypto.h"

namespace bj {
namespace {

namespace json = boost::json;

}  // namespace

std::string signed_text(const AuditCheckpointRow& head) {
  return fmt::format("belljar-audit-head-v1\n{}\n{}\n{}\n", head.sequence, head.hash, head.time);
}

Result<AuditCheckpointRow> sign_head(const SigningKey& key, const AuditLink& head, int64_t now) {
  AuditCheckpointRow row{head.sequence, key.public_key().id(), head.hash, now, ""};
  BJ_TRY(const std::string signature, key.sign(signed_text(row)));
  row.signature = base64(signature);
  return row;
}

bool signature_holds(const PublicKey& key, const AuditCheckpointRow& head) {
  const std::optional<std::string> signature = lenient_base64(head.signature);
  return signature && key.id() == head.key_id && key.verifies(signed_text(head), *signature);
}

json::object head_json(const AuditCheckpointRow& head) {
  return {{"sequence", head.sequence},
          {"hash", head.hash},
          {"time_us", head.time},
          {"key_id", head.key_id},
          {"signature", head.signature}};
}

Result<AuditCheckpointRow> read_head(const std::string& json_text) {
  json::error_code bad;
  const json::value value = json::parse(json_text, bad);
  const json::object* const object = bad ? nullptr : value.if_object();
  const auto number = [&](const char* name) {
    const json::value* const field = object ? object->if_contains(name) : nullptr;
    return field ? field->if_int64() : nullptr;
  };
  const auto text = [&](const char* name) {
    const json::value* const field = object ? object->if_contains(name) : nullptr;
    return field ? field->if_string() : nullptr;
  };
  const auto *sequence = number("sequence"), *time = number("time_us");
  const auto *hash = text("hash"), *key_id = text("key_id"), *signature = text("signature");
  if (!sequence || !time || !hash || !key_id || !signature)
    return fail(Code::kInvalid, "this is no signed head: it is what `belljar audit head --json` prints");
  return AuditCheckpointRow{*sequence, std::string(*key_id), std::string(*hash), *time, std::string(*signature)};
}

}  // namespace bj
