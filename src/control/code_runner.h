// Code in a sandbox's contexts, for every API: executed in its turn, logged, and each execution with its receipt. The
// text of the code enters neither.
#pragma once

#include <boost/json/array.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "audit/audit_log.h"
#include "control/sandbox_manager.h"
#include "engine/calls/execution.h"

namespace bj {

// All that came of an execution. What is beyond a limit is counted.
struct CollectedExecution {
  Captured output, error;
  std::vector<ExecutionEvent> results;
  uint64_t results_dropped = 0;
  ExecutionEnd end;
};

class CodeRunner {
 public:
  // The referenced must outlive it.
  CodeRunner(AuditLog& audit, std::function<int64_t()> now) : audit_(audit), now_(std::move(now)) {}

  // `listener` gets output as UTF-8, cut between characters. Whoever waits for nothing may leave it empty. kInvalid: a
  // variable's name is none.
  Task<Result<ExecutionEnd>> run(Actor actor, std::shared_ptr<HeldSandbox> sandbox,
                                 std::shared_ptr<InterpreterContext> context, Execution execution,
                                 ExecutionListener listener);
  Task<Result<CollectedExecution>> collect(Actor actor, std::shared_ptr<HeldSandbox> sandbox,
                                           std::shared_ptr<InterpreterContext> context, Execution execution,
                                           uint64_t limit_bytes);

 private:
  AuditLog& audit_;
  std::function<int64_t()> now_;
};

}  // namespace bj
