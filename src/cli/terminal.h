// The user's terminal: raw mode for exec -t, its size, and text from inside sandboxes made harmless before it gets
// there.
#pragma once

#include <termios.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace bj {

// Shows control characters other than line feed and tab instead of sending them: ESC as ^[, bytes and code points of C1
// as \x9b. Text may come in pieces; what a piece leaves open (the first byte of a C1 code point) waits for the next.
class TerminalFilter {
 public:
  std::string pass(std::string_view piece);
  // What is still held back.
  std::string finish();

 private:
  // Bytes that are still to come of a UTF-8 sequence; C1 code points are two bytes, the first of them 0xc2.
  int expected_ = 0;
  bool held_c2_ = false;
};

std::string harmless(std::string_view text);

// Writes all of it: as it is to files and pipes, harmless to a terminal. A reader that is gone is not our failure.
void print_untrusted(int fd, std::string_view text);

struct WindowSize {
  uint16_t rows = 24, columns = 80;
};
WindowSize window_size(int fd);
void set_window_size(int fd, WindowSize size);

// kOutput: only what is written stays as it is; keys are still lines and signals.
enum class RawMode { kAll, kOutput };

// Puts a terminal into raw mode and back. Move-only through Result; the destructor restores.
class RawTerminal {
 public:
  static Result<RawTerminal> enter(int fd, RawMode mode);
  RawTerminal(RawTerminal&& other) noexcept : fd_(std::exchange(other.fd_, -1)), before_(other.before_) {}
  RawTerminal& operator=(RawTerminal&&) = delete;
  ~RawTerminal();

 private:
  RawTerminal(int fd, const termios& before) : fd_(fd), before_(before) {}
  int fd_;
  termios before_;
};

}  // namespace bj
