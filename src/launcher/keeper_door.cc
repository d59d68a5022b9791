#include "launcher/keeper_door.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "sys/file_lock.h"
#include "sys/files.h"
#include "sys/names.h"
#include "sys/socket.h"

namespace bj {
namespace {

constexpr const char* kSocket = "keeper.sock";
constexpr const char* kLock = "keeper.lock";  // who looks for a keeper, or opens a door, does it alone
constexpr uint64_t kMagic = 0x3172657065656b42;
constexpr timeval kPatience{2, 0};
constexpr timeval kPatienceForAnEnd{15, 0};
constexpr int kKnocks = 40;  // a server that was killed takes a moment to be gone
constexpr useconds_t kBetweenKnocksUs = 50'000;

enum class Wants : uint32_t { kTake = 1, kEnd = 2 };
struct Hello {
  uint64_t magic;
  Wants wants;
  BuildId build;
};
enum class Said : uint32_t { kWelcome = 1, kBusy = 2, kOtherBuild = 3, kEnded = 4 };
struct Answer {
  uint64_t magic;
  Said said;
};

// By way of the directory's descriptor: its own path may be too long for a socket's address.
sockaddr_un address_in(const Fd& directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(directory.get()) + "/" + kSocket;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

Result<Fd> new_socket() {
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket.ok()) return fail_errno("socket(AF_UNIX)");
  return socket;
}

void be_patient(const Fd& socket, const timeval& time) {
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

template <class T>
bool send_struct(const Fd& socket, const T& message) {
  return send_message(socket.get(), {reinterpret_cast<const char*>(&message), sizeof message}, {}).has_value();
}

template <class T>
bool receive_struct(const Fd& socket, T& message) {
  const auto received = receive_message(socket.get(), reinterpret_cast<char*>(&message), sizeof message);
  return received && received->size == sizeof message && !received->truncated && message.magic == kMagic;
}

void say(const Fd& socket, Said said) { (void)send_struct(socket, Answer{kMagic, said}); }

bool is_our_user(const Fd& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

// Empty: nobody is there.
Result<Fd> reach(const Fd& directory) {
  BJ_TRY(Fd socket, new_socket());
  const sockaddr_un address = address_in(directory);
  const Result<void> connected = connect_unix(socket.get(), address);
  if (connected) return socket;
  const int error = connected.error().sys;
  if (error == ECONNREFUSED || error == ENOENT) return Fd();
  return fail_with(error, "connect(keeper.sock)");
}

Result<Door> open_door(const Fd& directory, const BuildId& build) {
  BJ_TRY(Fd socket, new_socket());
  (void)remove_file(directory.get(), kSocket);
  const sockaddr_un address = address_in(directory);
  const mode_t before = ::umask(0177);
  const bool bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::umask(before);
  if (!bound) return fail_errno("bind(keeper.sock)");
  if (::listen(socket.get(), 4) != 0) return fail_errno("listen(keeper.sock)");
  return Door{std::move(socket), build};
}

// What another build kept ends; whether it said so or just went is the same.
void ask_to_end(const Fd& directory, const BuildId& build) {
  const Result<Fd> socket = reach(directory);
  if (!socket || !socket->ok()) return;
  be_patient(*socket, kPatienceForAnEnd);
  Answer answer{};
  if (send_struct(*socket, Hello{kMagic, Wants::kEnd, build})) (void)receive_struct(*socket, answer);
}

}  // namespace

BuildId own_build() {
  BuildId id{};
  const auto visit = [](dl_phdr_info* object, size_t, void* into) -> int {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const ElfW(Phdr)& header = object->dlpi_phdr[i];
      if (header.p_type != PT_NOTE) continue;
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader tells addresses as numbers
      const char* at = reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);
      const char* const end = at + header.p_memsz;
      while (at + sizeof(ElfW(Nhdr)) <= end) {
        ElfW(Nhdr) note;
        std::memcpy(&note, at, sizeof note);
        const char* const name = at + sizeof note;
        const char* const value = name + ((note.n_namesz + 3) & ~3u);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
          auto& out = *static_cast<BuildId*>(into);
          std::memcpy(out.data(), value, std::min<size_t>(note.n_descsz, out.size()));
        }
        at = value + ((note.n_descsz + 3) & ~3u);
      }
    }
    return 1;  // the first object is the program itself
  };
  ::dl_iterate_phdr(visit, &id);
  return id;
}

Result<Found> find_keeper(const std::string& data_directory, const BuildId& build) {
  BJ_TRY(const Fd directory, open_path(data_directory, O_RDONLY | O_DIRECTORY));
  BJ_TRY(const Fd lock, open_at(directory.get(), kLock, O_RDWR | O_CREAT, 0600));
  BJ_CHECK(lock_file(lock.get(), Lock::kAlone, "keeper.lock"));
  Found found;
  for (int knock = 0; knock < kKnocks; ++knock) {
    BJ_TRY(Fd socket, reach(directory));
    Answer answer{};
    if (socket.ok()) be_patient(socket, kPatience);
    if (!socket.ok() || !is_our_user(socket) || !send_struct(socket, Hello{kMagic, Wants::kTake, build}) ||
        !receive_struct(socket, answer)) {
      break;  // nobody, or one who is just leaving
    }
    if (answer.said == Said::kWelcome) {
      be_patient(socket, timeval{});
      found.keeper = std::move(socket);
      return found;
    }
    if (answer.said == Said::kOtherBuild) {
      ask_to_end(directory, build);
      found.ended = "the server was replaced by another build, which can't take its sandboxes over";
      break;
    }
    if (knock + 1 == kKnocks) return found;  // another server has this directory, and its door
    ::usleep(kBetweenKnocksUs);
  }
  BJ_TRY(found.door, open_door(directory, build));
  return found;
}

void remove_door(const std::string& data_directory) { (void)remove_file(AT_FDCWD, data_directory + "/" + kSocket); }

Visitor answer_door(const Door& door) {
  Visitor visitor;
  visitor.socket = Fd(::accept4(door.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!visitor.socket.ok() || !is_our_user(visitor.socket)) return {};
  be_patient(visitor.socket, kPatience);
  Hello hello{};
  if (!receive_struct(visitor.socket, hello)) return {};
  if (hello.wants == Wants::kEnd) {
    visitor.wish = Visitor::Wish::kEnd;
  } else if (hello.wants == Wants::kTake && hello.build == door.build) {
    visitor.wish = Visitor::Wish::kTake;
  } else {
    say(visitor.socket, Said::kOtherBuild);
  }
  return visitor;
}

// His words are read first: an unread message would be a reset, and not the answer, to him.
void turn_away(const Door& door) {
  const Fd socket(::accept4(door.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.ok() || !is_our_user(socket)) return;
  be_patient(socket, kPatience);
  Hello hello{};
  if (receive_struct(socket, hello)) say(socket, Said::kBusy);
}

void welcome(const Visitor& visitor) {
  be_patient(visitor.socket, timeval{});
  say(visitor.socket, Said::kWelcome);
}

void confirm_end(const Visitor& visitor) { say(visitor.socket, Said::kEnded); }

}  // namespace bj
