// Carries a plan out in the calling process, step by step, and stops at the first that fails. Uses raw system calls
// only: no heap, no locks, no C library, so it may run after clone() of a threaded or Python process.
#pragma once

#include "seal/step.h"

namespace bj {

struct PlanView {
  const Step* steps;
  uint32_t count;
  const char* strings;
  uint32_t strings_size;
};

struct Failure {
  int32_t step = -1;  // index, -1: none
  int32_t error = 0;  // errno
};

struct CarryOut {
  int slots[kMaxSlots];  // descriptors, -1: empty
  uint32_t uid;          // for kOwnUid
};

// A plan that points outside itself is refused before its first step (EBADMSG).
Failure carry_out(const PlanView& plan, CarryOut& state);

}  // namespace bj
