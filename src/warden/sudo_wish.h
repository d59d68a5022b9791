// What sudo's command line asks for, and the account that it names. Nothing here calls the kernel, so it is tested
// without a sandbox. No C library: sudo has none.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sys/raw.h"

namespace bj::ward {

enum class Task { kRun, kValidate, kList };

struct Wish {
  Task task = Task::kRun;
  const char* user = nullptr;  // by name, or "#" and a number; null: root
  char impossible = 0;         // an option without which the command would be another one
  bool shell = false;          // -s, -i
  bool login = false;          // -i
  bool forget = false;         // -k, -K: there is nothing to forget
  int assignments = 1;         // NAME=value ..., up to the command
  int first = 1;               // of the command's arguments
};

// A line of /etc/passwd.
struct User {
  const char* name = "root";
  const char* home = "/root";
  uint32_t uid = 0, gid = 0;
};

inline bool starts_with(const char* text, const char* prefix) {
  while (*prefix != 0 && *text == *prefix) ++text, ++prefix;
  return *prefix == 0;
}

inline bool contains(const char* text, char wanted) {
  while (*text != 0 && *text != wanted) ++text;
  return *text != 0;
}

// As of two variables, with or without a value.
inline bool same_name(const char* a, const char* b) {
  while (*a != 0 && *a != '=' && *a == *b) ++a, ++b;
  return (*a == 0 || *a == '=') && (*b == 0 || *b == '=');
}

// Options that scripts pass and that mean nothing here are passed over; one that would make the command another's, or
// run it elsewhere, is not.
inline void note_option(char letter, const char* value, Wish& wish) {
  switch (letter) {
    case 'u':
      wish.user = value;
      if (value == nullptr) wish.impossible = letter;
      break;
    case 'i': wish.login = wish.shell = true; break;
    case 's': wish.shell = true; break;
    case 'k':
    case 'K': wish.forget = true; break;
    case 'v': wish.task = Task::kValidate; break;
    case 'l': wish.task = Task::kList; break;
    default:
      if (contains("DRUegh", letter)) wish.impossible = letter;
  }
}

// "-nu" or "-uNAME". True: its value is the next argument.
inline bool read_letters(const char* at, const char* next, Wish& wish) {
  for (; *at != 0; ++at) {
    const bool with_value = contains("CDRTUgprtu", *at);
    const bool beside = with_value && at[1] != 0;
    note_option(*at, beside ? at + 1 : next, wish);
    if (with_value) return !beside;
  }
  return false;
}

// "--user=NAME" or "--user". True: its value is the next argument.
inline bool read_word(const char* word, const char* next, Wish& wish) {
  struct Name {
    const char* text;
    char letter;
    bool with_value;
  };
  static constexpr Name kNames[] = {
      {"user", 'u', true},
      {"login", 'i', false},
      {"shell", 's', false},
      {"validate", 'v', false},
      {"list", 'l', false},
      {"group", 'g', true},
      {"chdir", 'D', true},
      {"chroot", 'R', true},
      {"edit", 'e', false},
      {"other-user", 'U', true},
      {"prompt", 'p', true},
      {"role", 'r', true},
      {"type", 't', true},
      {"close-from", 'C', true},
      {"command-timeout", 'T', true},
      {"host", 'h', true},
      {"help", 'h', false},
      {"remove-timestamp", 'K', false},
      {"reset-timestamp", 'k', false},
  };
  for (const Name& name : kNames) {
    if (!same_name(word, name.text)) continue;
    const bool beside = contains(word, '=');
    note_option(name.letter, beside ? word + raw::length(name.text) + 1 : next, wish);
    return name.with_value && !beside;
  }
  return false;
}

inline bool is_assignment(const char* text) { return text[0] != '/' && text[0] != '=' && contains(text, '='); }

inline Wish read_wish(int argc, const char* const* argv) {
  Wish wish;
  int i = 1;
  while (i < argc && argv[i][0] == '-') {
    const char* option = argv[i++];
    if (raw::same(option, "--")) break;
    const char* next = i < argc ? argv[i] : nullptr;
    const bool took = option[1] == '-' ? read_word(option + 2, next, wish) : read_letters(option + 1, next, wish);
    if (took && i < argc) ++i;
  }
  wish.assignments = i;
  while (i < argc && is_assignment(argv[i])) ++i;
  wish.first = i;
  if (wish.forget && i >= argc && !wish.shell) wish.task = Task::kValidate;
  return wish;
}

// False: not a number, or the one that means nobody to the kernel.
inline bool read_id(const char* digits, uint32_t& id) {
  uint64_t value = 0;
  if (*digits == 0) return false;
  for (; *digits != 0; ++digits) {
    if (*digits < '0' || *digits > '9') return false;
    value = value * 10 + static_cast<uint64_t>(*digits - '0');
    if (value >= 0xFFFFFFFFu) return false;
  }
  id = static_cast<uint32_t>(value);
  return true;
}

// Cuts the text at the first `end`; what follows, or null at the text's end.
inline char* cut(char* text, char end) {
  while (*text != 0 && *text != end) ++text;
  if (*text == 0) return nullptr;
  *text = 0;
  return text + 1;
}

// The first account of that name, or "#" and number, in the text of /etc/passwd, which is cut into pieces; `user`
// points into it. A line that is none is passed over.
inline bool find_user(char* text, const char* wanted, User& user) {
  uint32_t number = 0;
  const bool by_number = wanted[0] == '#' && read_id(wanted + 1, number);
  for (char* line = text; line != nullptr;) {
    char* fields[6] = {line};
    line = cut(line, '\n');
    int count = 1;
    while (count < 6 && (fields[count] = cut(fields[count - 1], ':')) != nullptr) ++count;
    if (count < 6 || fields[0][0] == 0) continue;
    cut(fields[5], ':');
    User found{fields[0], fields[5], 0, 0};
    if (!read_id(fields[2], found.uid) || !read_id(fields[3], found.gid)) continue;
    if (by_number ? found.uid != number : !raw::same(found.name, wanted)) continue;
    user = found;
    return true;
  }
  return false;
}

}  // namespace bj::ward
