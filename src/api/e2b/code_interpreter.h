// E2B's code interpreter (port 49999 of a sandbox): GET /health, POST /execute as lines of JSON, /contexts. What its
// SDKs expect is in docs/e2b.md; errors are plain text.
#pragma once

#include <memory>

#include "base/async.h"
#include "control/code_runner.h"
#include "server/request.h"
#include "server/response.h"

namespace bj::e2b {

// Answers a request to the interpreter of `sandbox`, whose client has proven himself: receipts name the sandbox's
// owner. Its body was collected; the path is the port's own: /execute, /contexts/{id}. `code` must outlive the
// response.
Task<HttpResponse> answer_code_interpreter(HttpRequest& request, std::shared_ptr<HeldSandbox> sandbox,
                                           CodeRunner& code);

}  // namespace bj::e2b
