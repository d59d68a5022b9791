// Switches one control off, for the mutation tests. Exists in test builds only: a release has no way to weaken a seal.
//
// A switch is a control's name in seal/control.h, or one of the engine's own: "hostname", "result" (an answer's nonce),
// "reaper" (a call's end takes its children along) and "mask" (usr_mask.h). Each takes away that control alone, as far
// as the rest can stand without it; where that harms nothing but the sandbox. An unknown or empty name switches nothing
// off. A sandbox can be without several, separated by commas; the gate's have their switches in
// launcher/gate_control.h.
#pragma once

#ifdef BELLJAR_TEST_SWITCHES

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/launcher_client.h"
#include "engine/templates/template.h"
#include "seal/plan.h"

namespace bj {

// A zygote's sandbox (profile kZygote) keeps everything but what its calls get from it.
void switch_off_in_sandbox(std::string_view names, SyscallProfile profile, Plan& plan, LaunchRequest& request);
void switch_off_in_call(std::string_view what, Plan& plan, uint64_t& clone_flags, bool& own_network);

// For "mask": of layers with the same target the last stays.
void remove_masks(std::vector<TemplateLayer>& layers);
// For "environment": what the server was started with reaches the sandbox.
void add_own_environment(std::map<std::string, std::string>& environment);
// For "result": the nonce that an answer itself claims.
std::string nonce_in(std::string_view answer);

}  // namespace bj

#endif
