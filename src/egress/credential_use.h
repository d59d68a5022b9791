// Which credentials a request gets, and the request with them in it. Pure; everything that may hold a value is wiped.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/wiped_text.h"
#include "egress/credential.h"
#include "egress/http_head.h"

namespace bj {

// Those for connections to this place. The values are shared, not copied.
GateCredentials bound_to(const GateCredentials& all, std::string_view name, uint16_t port);

// Of those bound to the place of a request, the ones for its method and path. A path that servers read differently or
// an overridden method gets none that depends on it.
using CredentialChoice = std::vector<const GateCredential*>;
CredentialChoice meant_for(const GateCredentials& bound, const HttpHead& head);
// Some of them look for their placeholder in the body.
bool reads_body(const CredentialChoice& chosen);

// A short placeholder that code repeats becomes a long value as often: what comes of it is bounded, too.
inline constexpr size_t kMostGivenHead = 64 * 1024, kMostGivenBody = 1024 * 1024;

struct GivenRequest {
  WipedText text;
  std::vector<std::string> used;  // the names of those whose value is in the text
  bool fits = true;               // otherwise the text is incomplete, and must not be sent
};

// What is left out of a request so that answers can be looked through: compression and ranges.
enum class Answers { kAsAsked, kReadable };

// The head as it goes to the server: fields between the client and us taken off, credentials put in. `body_size`: of a
// body that was read whole and may have another length now.
GivenRequest give_to_head(const HttpHead& head, const CredentialChoice& chosen, Answers answers,
                          std::optional<uint64_t> body_size);
// The whole body. The value is written as the body's type has it: JSON, a form or plain.
GivenRequest give_to_body(const HttpHead& head, std::string_view body, const CredentialChoice& chosen);

}  // namespace bj
