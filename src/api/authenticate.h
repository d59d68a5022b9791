// From the key that came with a request to who asks. Letta's ways of sending one are understood: `Authorization:
// Bearer`, and `X-BARE-PASSWORD: password <key>` of old clients; and E2B's, `X-API-Key`.
//
// The key decides the organization. A `user_id` header may name another user of the same organization and is otherwise
// ignored: it is a name, not a proof.
#pragma once

#include "server/http_server.h"
#include "store/store.h"

namespace bj {

// Both must outlive it.
Authenticate authenticate_by_key(Store& store, asio::thread_pool& threads);

}  // namespace bj
