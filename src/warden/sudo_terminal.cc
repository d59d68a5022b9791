#include "warden/sudo_terminal.h"

namespace bj::ward {
namespace {

constexpr long kGetSettings = 0x5401, kSetSettings = 0x5402, kGetGroup = 0x540F, kGetWindow = 0x5413,
               kSetWindow = 0x5414;
constexpr long kGetFlags = 3, kSetFlags = 4;

void write_all(int fd, const char* bytes, long size) {
  while (size > 0) {
    const long n = call(__NR_write, fd, address(bytes), size);
    if (n <= 0) return;
    bytes += n;
    size -= n;
  }
}

}  // namespace

bool have_terminal() {
  WindowSize size{};
  for (long fd = 0; fd < 3; ++fd) {
    if (call(__NR_ioctl, fd, kGetWindow, address(&size)) < 0) return false;
  }
  int group = 0;
  return call(__NR_ioctl, 0, kGetGroup, address(&group)) >= 0 && group == call(__NR_getpgid, 0);
}

WindowSize window_size() {
  WindowSize size{};
  call(__NR_ioctl, 0, kGetWindow, address(&size));
  return size;
}

// As cfmakeraw(3).
RawTerminal::RawTerminal() {
  static_assert(sizeof(Settings) == 36);
  if (call(__NR_ioctl, 0, kGetSettings, address(&before_)) < 0) return;
  Settings raw = before_;
  raw.input &= ~0x5ebu;                           // IGNBRK BRKINT PARMRK ISTRIP INLCR IGNCR ICRNL IXON
  raw.output &= ~1u;                              // OPOST
  raw.local &= ~0x804bu;                          // ECHO ECHONL ICANON ISIG IEXTEN
  raw.control = (raw.control & ~0x130u) | 0x30u;  // no parity, 8 bits
  raw.characters[6] = 1;                          // VMIN
  raw.characters[5] = 0;                          // VTIME
  changed_ = call(__NR_ioctl, 0, kSetSettings, address(&raw)) >= 0;
}

RawTerminal::~RawTerminal() {
  if (changed_) call(__NR_ioctl, 0, kSetSettings, address(&before_));
}

Relay::Relay(int master) : master_(master) {
  const long flags = call(__NR_fcntl, master_, kGetFlags, 0);
  call(__NR_fcntl, master_, kSetFlags, flags | kNonblock);
}

void Relay::read_input() {
  waiting_ = call(__NR_read, 0, address(keys_), sizeof keys_);
  at_ = 0;
  if (waiting_ > 0) return write_input();
  input_over_ = true;
  waiting_ = 0;
}

void Relay::write_input() {
  const long n = call(__NR_write, master_, address(keys_ + at_), waiting_);
  if (n == -kEAGAIN) return;
  at_ += n;
  waiting_ = n < 0 ? 0 : waiting_ - n;
}

bool Relay::pass_output() {
  char bytes[4096];
  for (;;) {
    const long n = call(__NR_read, master_, address(bytes), sizeof bytes);
    if (n == -kEAGAIN) return true;
    if (n <= 0) return false;
    write_all(1, bytes, n);
  }
}

void Relay::resize() {
  const WindowSize size = window_size();
  call(__NR_ioctl, master_, kSetWindow, address(&size));
}

}  // namespace bj::ward
