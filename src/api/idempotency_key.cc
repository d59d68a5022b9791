#include "api/idempotency_key.h"

namespace bj {

Result<MaybeText> idempotency_key_of(const HttpRequest& request) {
  constexpr size_t kLongestKey = 255;
  const std::string_view key = request.headers.get("Idempotency-Key");
  if (key.size() > kLongestKey) return fail(Code::kUnprocessable, "Idempotency-Key may have 255 characters");
  return key.empty() ? MaybeText() : MaybeText(key);
}

}  // namespace bj
