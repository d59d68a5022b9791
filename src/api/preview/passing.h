// What of a request reaches a sandbox, and what of its answer reaches the client. Inward, nothing that opens anything
// of ours: keys, tokens, the cookie. Outward, nothing that would reach beyond the sandbox's own origin. What belongs to
// one connection stays there. Pure.
#pragma once

#include <string>
#include <string_view>

#include "egress/http_response.h"
#include "server/request.h"
#include "server/response.h"
#include "server/traffic.h"

namespace bj::preview {

inline constexpr std::string_view kTokenHeader = "X-Belljar-Token";
inline constexpr std::string_view kTokenQuery = "belljar_token";
inline constexpr std::string_view kTokenCookie = "belljar_preview";
inline constexpr std::string_view kTrafficHeader = "E2b-Traffic-Access-Token";

// A cookie of that name in a Cookie header; empty: there is none.
std::string_view cookie_of(std::string_view header, std::string_view name);

// The query without our token, as sent.
std::string query_without_token(std::string_view query);

bool is_upgrade(const HttpRequest& request);

// The request's head as it goes inside. `host`: what the Host header says there; empty: what the client sent.
std::string request_head(const HttpRequest& request, const Traffic& traffic, std::string_view host);

// The answer's status and headers, without a body.
HttpResponse passed_on(const ResponseHead& head, const Traffic& traffic);

}  // namespace bj::preview
