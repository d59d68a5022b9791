// JSON columns of the store. We wrote them, so what can't be read is a damaged row: it counts as nothing.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/exact_json.h"
#include "store/rows.h"

namespace bj {

inline boost::json::value stored_json(const MaybeText& text) {
  return text ? parse_exactly(*text).value_or(boost::json::value()) : boost::json::value();
}

inline boost::json::object stored_object(const MaybeText& text) {
  boost::json::value value = stored_json(text);
  return value.is_object() ? std::move(value.get_object()) : boost::json::object();
}

}  // namespace bj
