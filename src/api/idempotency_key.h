// A request that may be sent twice and is to be done once says so by a key of its own.
#pragma once

#include "server/request.h"
#include "store/rows.h"

namespace bj {

// The header Idempotency-Key; absent: each request is one of its own.
Result<MaybeText> idempotency_key_of(const HttpRequest& request);

}  // namespace bj
