// What is answered instead of a port's own answer: JSON as E2B's clients know it, a page for people.
#pragma once

#include <string_view>

#include "server/request.h"
#include "server/response.h"
#include "server/traffic.h"

namespace bj::preview {

// A browser that shows what it gets to somebody.
bool is_page_visit(const HttpRequest& request);

// {"sandboxId", "message", "port", "code"}, or a page that says the same.
HttpResponse error_answer(const HttpRequest& request, const Traffic& traffic, unsigned status,
                          std::string_view sentence);
// Nobody listens: 502. The page asks again by itself until somebody does.
HttpResponse closed_port(const HttpRequest& request, const Traffic& traffic);

}  // namespace bj::preview
