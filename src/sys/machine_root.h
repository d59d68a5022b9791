// Who is root here: of the machine, with all user ids to give, or of a container only, with the ids that it was given.
#pragma once

namespace bj {

// False for root of any user namespace but the first: to that, sandboxes are as they are without root.
bool is_machine_root();

}  // namespace bj
