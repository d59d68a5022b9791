// What of a tool's return value a caller gets: at most `return_char_limit` characters of its text.
//
// Letta has two stages. Its executor only adds a note and keeps the whole text; the agent's message is really cut. We
// cut in both places with limit_return(), so that a limit is one; the executor's stage stays readable for comparison.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>

namespace bj {

inline constexpr int64_t kDefaultReturnLimit = 50000;

// The value, or its cut text with a note; and what str() shows of either.
struct LimitedReturn {
  boost::json::value value;
  std::string text;
};

// What counts is the JSON of an object and Python's str() of everything else: `text` where the runtime told it, since
// JSON lacks nan and long integers.
LimitedReturn limit_return(boost::json::value value, std::optional<std::string> text, size_t limit);
// As it stands in an agent's message: objects that fit stay objects, all else is text ("None" for null).
boost::json::value return_message(boost::json::value value, size_t limit);
// Letta's executor: the note without the cut.
boost::json::value note_limit_only(boost::json::value value, size_t limit);

}  // namespace bj
