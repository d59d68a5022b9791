// Java's file of trusted certificates in its old format (JKS), which every Java still reads whatever the file is
// called.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace bj {

// The keystore with one more certificate (DER). A failure: it is none, or not under the usual password.
Result<std::string> with_trusted_certificate(std::string_view keystore, std::string_view alias,
                                             std::string_view certificate);

}  // namespace bj
