// Whether a request that comes again under its Idempotency-Key asks for the same. What the first one asked for stands
// in its command's payload; a key that comes with something else is refused, or whoever sent it would take another's
// outcome for his. Pure.
#pragma once

#include <boost/json/object.hpp>

#include "base/error.h"
#include "control/sandbox_manager.h"

namespace bj {

// The payload's field for what a request said where the rest of the payload is what that meant at the time.
inline constexpr char kAsked[] = "asked";

// The payload of a create: a hash of all that was asked for but the values of variables, which are no text of a
// command's; the table compares those. Of one whose image is given there is none: a fork that is made again after a
// crash has other layers, and its key is its own.
Result<boost::json::object> payload_of_create(const NewSandbox& wanted);

// A first one from before there was `asked` is taken at its word.
bool asks_for_the_same(const boost::json::object& first, const boost::json::object& payload);

}  // namespace bj
