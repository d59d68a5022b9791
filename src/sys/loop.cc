#include "sys/loop.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace bj {
namespace {

constexpr const char* kControl = "/dev/loop-control";
constexpr int kTries = 32;  // others take free devices, too

bool shows(const Fd& device, const struct stat& file) {
  loop_info64 info{};
  return ::ioctl(device.get(), LOOP_GET_STATUS64, &info) == 0 && info.lo_device == file.st_dev &&
         info.lo_inode == file.st_ino;
}

// Opened first, asked then: an open device does not change under us.
LoopDevice find_device(const struct stat& file) {
  std::error_code bad;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/block", bad)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("loop") || !std::filesystem::exists(entry.path() / "loop", bad)) continue;
    LoopDevice device{Fd(::open(("/dev/" + name).c_str(), O_RDWR | O_CLOEXEC)), "/dev/" + name};
    if (device.fd.ok() && shows(device.fd, file)) return device;
  }
  return {};
}

Result<LoopDevice> new_device(const Fd& control, int file) {
  for (int i = 0; i < kTries; ++i) {
    const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) return fail_errno("ioctl(LOOP_CTL_GET_FREE)");
    LoopDevice device{{}, "/dev/loop" + std::to_string(number)};
    device.fd = Fd(::open(device.path.c_str(), O_RDWR | O_CLOEXEC));
    if (!device.fd.ok()) return fail_errno("open(" + device.path + ")");
    loop_config config{};
    config.fd = static_cast<unsigned>(file);
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (::ioctl(device.fd.get(), LOOP_CONFIGURE, &config) == 0) return device;
    if (errno != EBUSY) return fail_errno("ioctl(LOOP_CONFIGURE)");
  }
  return fail(Code::kBusy, "no free loop device could be had");
}

}  // namespace

Result<void> check_loop_devices() {
  if (::geteuid() != 0) return fail(Code::kUnavailable, "loop devices are for root");
  if (::access(kControl, R_OK | W_OK) != 0)
    return fail(Code::kUnavailable, "there are no loop devices (/dev/loop-control)");
  return {};
}

Result<LoopDevice> ensure_loop_device(int file) {
  BJ_CHECK(check_loop_devices());
  const Fd control(::open(kControl, O_RDWR | O_CLOEXEC));
  if (!control.ok()) return fail_errno("open(/dev/loop-control)");
  struct stat info{};
  if (::fstat(file, &info) != 0) return fail_errno("fstat");
  LoopDevice there = find_device(info);
  if (there.fd.ok()) return there;
  return new_device(control, file);
}

}  // namespace bj
