// A handler that may want more than its organization has: that is a limit of the caller's (429), not the machine's
// (503).
#pragma once

#include "api/handler.h"
#include "store/quota.h"

namespace bj::native {

template <auto kHandler, class Services>
Task<Result<HttpResponse>> telling_quotas(Services services, HttpRequest& request) {
  Result<HttpResponse> answer = co_await kHandler(services, request);
  if (!answer && is_over_quota(answer.error())) co_return error_response(429, answer.error().what);
  co_return answer;
}

}  // namespace bj::native
