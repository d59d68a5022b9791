// The keeper's door: a Unix socket in the data directory, where the next server finds what the last one left. Whoever
// knocks says which build he is; another build can't go on where this one stopped, but it may ask that it ends. Only
// the same user is let in. The messages here are read by other builds: they don't change.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

// Identifies this program's code (the linker's build id).
using BuildId = std::array<uint8_t, 32>;
BuildId own_build();

struct Door {
  Fd listener;
  BuildId build{};
};

// What a server finds at the door of a data directory.
struct Found {
  Fd keeper;                 // it is ours now: a launcher that has kept something
  std::optional<Door> door;  // nobody was there: ours to give to a new launcher
  std::string ended;         // why what was kept has been ended; empty: nothing was
};

// Knocks; opens a door where nobody is. With another server behind the door there is neither. The directory must exist.
Result<Found> find_keeper(const std::string& data_directory, const BuildId& build);
// The end of a life without leftovers.
void remove_door(const std::string& data_directory);

// The keeper's side: who is at the door?
struct Visitor {
  enum class Wish { kNone, kTake, kEnd };
  Wish wish = Wish::kNone;
  Fd socket;
};
// Waits for his words for a moment only. kTake is only for our own build; the others are told why not.
Visitor answer_door(const Door& door);
void turn_away(const Door& door);  // a server is here
void welcome(const Visitor& visitor);
void confirm_end(const Visitor& visitor);

}  // namespace bj
