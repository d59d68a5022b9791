// Switches one control off, for the mutation tests. Exists in test builds only: a release has no way to weaken a seal.
#pragma once

#ifdef BELLJAR_TEST_SWITCHES

#include "engine/launcher_client.h"
#include "seal/plan.h"

namespace bj {

void apply_switch(Control control, Plan& plan, uint64_t& clone_flags, bool& own_network);
void apply_switch(Control control, Plan& plan, LaunchRequest& request);

}  // namespace bj

#endif
