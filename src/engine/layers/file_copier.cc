#include "engine/layers/file_copier.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sys/bytes.h"
#include "sys/files.h"
#include "sys/names.h"
#include "sys/transfer.h"

namespace bj {
namespace {

constexpr uint64_t kPiece = 1u << 20;

}  // namespace

FileCopier::~FileCopier() { (void)finish(); }

Result<void> FileCopier::copy_range(const CopyJob& job, uint64_t at, uint64_t end) {
  if (::lseek(job.to.get(), static_cast<off_t>(at), SEEK_SET) < 0) return fail_errno("lseek");
  auto from = static_cast<off_t>(at);
  while (static_cast<uint64_t>(from) < end) {
    if (stop_ != nullptr && *stop_) return fail(Code::kUnavailable, "the copy was given up");
    const Moved sent =
        send_file(job.to.get(), job.from.get(), from, std::min<uint64_t>(kPiece, end - static_cast<uint64_t>(from)));
    if (!sent.ok()) return fail_with(sent.sys, "sendfile");
    if (sent.ended()) return {};  // shorter than it was
    bytes_ += sent.size;
    if (bytes_ > max_bytes_) return fail(Code::kExhausted, "the sandbox has written more than a layer may hold");
  }
  return {};
}

Result<void> FileCopier::copy(const CopyJob& job) {
  if (job.size_bytes == 0) return {};
  if (::ftruncate(job.to.get(), static_cast<off_t>(job.size_bytes)) != 0) return fail_errno("ftruncate");
  for (uint64_t at = 0; at < job.size_bytes;) {
    BJ_TRY(const std::optional<uint64_t> data, next_data(job.from.get(), at));
    if (!data) break;  // a hole to the end
    BJ_TRY(const uint64_t hole, next_hole(job.from.get(), *data));
    const uint64_t end = std::min(hole, job.size_bytes);
    BJ_CHECK(copy_range(job, *data, end));
    at = std::max(end, at + 1);
  }
  BJ_CHECK(change_mode(job.to.get(), "", job.mode));
  return change_times(job.to.get(), "", job.times);
}

Result<void> FileCopier::give(CopyJob job) {
  {
    const std::lock_guard lock(mutex_);
    if (failed_) return tl::unexpected(*failed_);
    if (waiting_.size() < kMostWaiting) {
      waiting_.push_back(std::move(job));
      if (!helper_.joinable()) helper_ = std::thread([this] { help(); });
      changed_.notify_one();
      return {};
    }
  }
  return copy(job);
}

void FileCopier::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const CopyJob job = std::move(waiting_.front());
    waiting_.pop_front();
    if (failed_) continue;
    lock.unlock();
    const Result<void> done = copy(job);
    lock.lock();
    if (!done && !failed_) failed_ = done.error();
  }
}

Result<uint64_t> FileCopier::finish() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  if (helper_.joinable()) {
    help();
    helper_.join();
  }
  if (failed_) return tl::unexpected(*failed_);
  return bytes_.load();
}

}  // namespace bj
