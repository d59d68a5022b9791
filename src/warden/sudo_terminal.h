// Between a caller's terminal and the terminal of the command that sudo runs: as the real one, the command has a
// terminal of its own, so that it leads a session, keys such as Ctrl-C reach it, and it can't push keys into the
// caller's. We pass bytes, the window's size and signals.
#pragma once

#include "warden/kernel.h"

namespace bj::ward {

inline constexpr long kSigHup = 1, kSigInt = 2, kSigQuit = 3, kSigUsr1 = 10, kSigUsr2 = 12, kSigWindow = 28;

struct WindowSize {
  uint16_t rows, columns, x, y;
};

// Stdin, stdout and stderr are one terminal each, and we are who it listens to.
bool have_terminal();
WindowSize window_size();

// Keys go through unchanged while it lives.
class RawTerminal {
 public:
  RawTerminal();
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;

 private:
  // As the kernel has it.
  struct Settings {
    uint32_t input, output, control, local;
    uint8_t line, characters[19];
  };
  Settings before_{};
  bool changed_ = false;
};

// The command's terminal, relayed step by step by a caller who polls.
class Relay {
 public:
  explicit Relay(int master);
  short wanted_of_master() const { return static_cast<short>(kPollIn | (waiting_ > 0 ? kPollOut : 0)); }
  bool wants_input() const { return waiting_ == 0 && !input_over_; }
  void read_input();
  void write_input();
  // What it has written by now goes out. False when it is hung up.
  bool pass_output();
  void resize();

  static constexpr short kPollOut = 4;

 private:
  int master_;
  char keys_[4096];
  long waiting_ = 0, at_ = 0;
  bool input_over_ = false;
};

}  // namespace bj::ward
