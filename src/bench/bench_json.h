// What a bench reads from answers.
#pragma once

#include <boost/json/parse.hpp>
#include <string>

#include "base/error.h"

namespace bj {

// A text of the answer's object.
inline Result<std::string> text_in_answer(const std::string& answer, std::string_view key) {
  boost::json::error_code bad;
  const boost::json::value value = boost::json::parse(answer, bad);
  const boost::json::value* const found = !bad && value.is_object() ? value.get_object().if_contains(key) : nullptr;
  if (found == nullptr || !found->is_string())
    return fail(Code::kInternal, "an answer without " + std::string(key) + ": " + answer.substr(0, 300));
  return std::string(found->get_string());
}

}  // namespace bj
