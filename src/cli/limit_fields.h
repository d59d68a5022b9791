// The limits as users name them, in one table: a flag, an environment variable and a key of the config file for each,
// all read by the same rule.
#pragma once

#include <span>
#include <string>

#include "base/error.h"
#include "seal/policy.h"

namespace bj {

enum class LimitKind { kTime, kSize, kCount, kDecimal };

struct LimitField {
  const char* key;  // in [limits]; the flag has - for _, the variable is BELLJAR_ and upper case
  LimitKind kind;
  uint64_t Limits::* whole;  // null for kDecimal
  double Limits::* decimal;
  double least, most;  // in the field's unit
  const char* help;
};

std::span<const LimitField> limit_fields();

std::string flag_of(const LimitField& field);      // "--open-files"
std::string variable_of(const LimitField& field);  // "BELLJAR_OPEN_FILES"

// Reads `text` as the field's kind wants it and checks its range. On failure `limits` is as before.
Result<void> set_limit(const LimitField& field, const std::string& text, Limits& limits);
// The same for times in milliseconds (BELLJAR_TIMEOUT_MS, timeout_ms): whole numbers only.
Result<void> set_limit_ms(const LimitField& field, const std::string& text, Limits& limits);
// The value as a person reads it: "1 GiB", "60 s", "none".
std::string limit_text(const LimitField& field, const Limits& limits);

}  // namespace bj
