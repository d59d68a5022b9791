#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sys/files.h"

namespace bj {
namespace {

int sequence_length(unsigned char first) {
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  if (first >= 0xf0 && first <= 0xf4) return 4;
  return 1;
}

void show_byte(unsigned char byte, std::string& out) {
  if (byte == '\n' || byte == '\t' || (byte >= 0x20 && byte < 0x7f)) {
    out.push_back(static_cast<char>(byte));
  } else if (byte < 0x20 || byte == 0x7f) {
    out += {'^', static_cast<char>(byte ^ 0x40)};
  } else {
    out += fmt::format("\\x{:02x}", byte);
  }
}

}  // namespace

std::string TerminalFilter::pass(std::string_view piece) {
  std::string out;
  out.reserve(piece.size());
  for (const char c : piece) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continuation = (byte & 0xc0) == 0x80;
    if (held_c2_) {
      held_c2_ = false;
      if (continuation && byte >= 0xa0) {
        out += {'\xc2', c};
        continue;
      }
      if (!continuation) out += "\\xc2";
    } else if (expected_ > 0 && continuation) {
      --expected_;
      out.push_back(c);
      continue;
    }
    expected_ = 0;
    if (byte == 0xc2) {
      held_c2_ = true;
    } else if (const int length = sequence_length(byte); length > 1) {
      expected_ = length - 1;
      out.push_back(c);
    } else {
      show_byte(byte, out);
    }
  }
  return out;
}

std::string TerminalFilter::finish() { return std::exchange(held_c2_, false) ? "\\xc2" : ""; }

std::string harmless(std::string_view text) {
  TerminalFilter filter;
  std::string out = filter.pass(text);
  return out + filter.finish();
}

void print_untrusted(int fd, std::string_view text) {
  if (::isatty(fd) != 0) {
    (void)write_all(fd, harmless(text), "the terminal");
  } else {
    (void)write_all(fd, text, "output");
  }
}

WindowSize window_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

void set_window_size(int fd, WindowSize size) {
  const winsize wanted{size.rows, size.columns, 0, 0};
  (void)::ioctl(fd, TIOCSWINSZ, &wanted);
}

Result<RawTerminal> RawTerminal::enter(int fd, RawMode mode) {
  termios before{};
  if (::tcgetattr(fd, &before) != 0) return fail_errno("tcgetattr(terminal)");
  termios raw = before;
  if (mode == RawMode::kAll) ::cfmakeraw(&raw);
  raw.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  if (::tcsetattr(fd, TCSADRAIN, &raw) != 0) return fail_errno("tcsetattr(terminal)");
  return RawTerminal(fd, before);
}

RawTerminal::~RawTerminal() {
  if (fd_ >= 0) (void)::tcsetattr(fd_, TCSADRAIN, &before_);
}

}  // namespace bj
