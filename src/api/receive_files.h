// The archive of a COPY step on its way in, for every protocol that takes one.
#pragma once

#include <string>

#include "api/template_services.h"
#include "server/request.h"
#include "server/response.h"

namespace bj {

// Takes the streamed body in. Nothing: it is there; else the answer to a body that can't be taken.
Task<std::optional<HttpResponse>> receive_files(TemplateServices services, HttpRequest& request,
                                                std::string organization, std::string hash);

}  // namespace bj
