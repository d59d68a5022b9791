// GET /docs: one page without anything from elsewhere, which reads /openapi.json in the browser and shows it. The
// policy it is sent with lets it run its own script and style, by their hashes, and talk to this server only.
#pragma once

#include "server/response.h"

namespace bj {

HttpResponse docs_page();

}  // namespace bj
