// What of a tool's return value a caller gets: at most `return_char_limit` characters of its text.
//
// Letta has two stages. Its executor only adds a note and keeps the whole text; the agent's message is really cut. We
// cut in both places with limit_return(), so that a limit is one; the executor's stage stays readable for comparison.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace bj {

inline constexpr int64_t kDefaultReturnLimit = 50000;

// JSON for objects, Python's str() for everything else.
std::string return_text(const boost::json::value& value);

// Unchanged when its text fits, else the cut text with a note.
boost::json::value limit_return(boost::json::value value, size_t limit);
// As it stands in an agent's message: objects that fit stay objects, all else is text ("None" for null).
boost::json::value return_message(boost::json::value value, size_t limit);
// Letta's executor: the note without the cut.
boost::json::value note_limit_only(boost::json::value value, size_t limit);

}  // namespace bj
