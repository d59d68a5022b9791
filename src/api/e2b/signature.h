// Signed links to files, as E2B's SDKs make them: "v1_" and the hash of what is asked for with the sandbox's token.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/request.h"

namespace bj::e2b {

enum class FileOperation { kRead, kWrite };

std::string signature_of(std::string_view path, FileOperation operation, std::string_view user, std::string_view token,
                         std::optional<std::string_view> expiration);

// Whether the request's query is signed with that token for this operation, whatever the time.
bool is_signed_with(const HttpRequest& request, FileOperation operation, std::string_view token);

// Why a link's signature does not open the sandbox of that token; nothing: it does.
std::optional<std::string> signature_problem(const HttpRequest& request, FileOperation operation,
                                             std::string_view token, int64_t now_s);

}  // namespace bj::e2b
