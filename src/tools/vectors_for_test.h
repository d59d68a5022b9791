// The observed cases of tests/vectors/letta-vectors.json, for unit tests.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tools/python_loads.h"

namespace bj {

inline const boost::json::object& letta_vectors() {
  static const boost::json::value vectors = [] {
    std::ifstream file(BELLJAR_TESTS_DIRECTORY "/vectors/letta-vectors.json");
    std::stringstream text;
    text << file.rdbuf();
    auto parsed = python_loads(text.str());
    EXPECT_TRUE(parsed) << parsed.error().what;
    return parsed ? *parsed : boost::json::value(boost::json::object());
  }();
  return vectors.as_object();
}

inline const boost::json::array& vectors_of(std::string_view section) { return letta_vectors().at(section).as_array(); }

// Optional text of a vector: absent and null are the empty string.
inline std::string text_at(const boost::json::object& vector, std::string_view key) {
  const boost::json::value* value = vector.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace bj
