// Where the next page of a list begins, as an opaque text: the id after which it does, and the order it is good for.
#pragma once

#include <map>
#include <string>

#include "base/error.h"
#include "store/rows.h"

namespace bj::e2b {

std::string page_token(const std::string& time, const std::string& id, Order order);
// The id. kInvalid: it is no token, or one of another order.
Result<std::string> read_page_token(const std::string& token, Order order);

// ?metadata= as the SDKs write it: pairs "key=value" joined by "&", each key and value percent-encoded twice.
Result<std::map<std::string, std::string>> read_metadata_filter(const std::string& text);

}  // namespace bj::e2b
