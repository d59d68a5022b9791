// A program in a sandbox with its limits enforced from outside: wall time, CPU time, output. What came back is bounded.
#pragma once

#include "base/async.h"
#include "engine/sandbox.h"
#include "selftest/verdict.h"

namespace bj::selftest {

// Returns when the program has ended, not when its output has: a child that holds the output open is not waited for.
// A limit that is hit kills the whole sandbox.
Task<Result<ProgramEnd>> run_program(std::shared_ptr<Sandbox> sandbox, ProcessSpec spec);

}  // namespace bj::selftest
