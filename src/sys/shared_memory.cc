#include "sys/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bj {

Result<SharedMemory> SharedMemory::map(Fd file, size_t size) {
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (at == MAP_FAILED) return fail_errno("mmap(memory file)");
  SharedMemory memory;
  memory.file_ = std::move(file);
  memory.data_ = static_cast<char*>(at);
  memory.size_ = size;
  return memory;
}

Result<Fd> new_memory_file(const char* name) {
  Fd file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.ok()) return fail_errno("memfd_create");
  return file;
}

Result<SharedMemory> SharedMemory::create(const char* name, size_t size) {
  BJ_TRY(Fd file, new_memory_file(name));
  if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) return fail_errno("ftruncate(memory file)");
  // Nobody can make it smaller under our feet.
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) return fail_errno("fcntl(F_ADD_SEALS)");
  return map(std::move(file), size);
}

Result<SharedMemory> SharedMemory::open(Fd file, size_t least) {
  struct stat info{};
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return fail(Code::kInvalid, "not a memory file of ours");
  if (::fstat(file.get(), &info) != 0) return fail_errno("fstat(memory file)");
  const auto size = static_cast<size_t>(info.st_size);
  if (size < least) return fail(Code::kInvalid, "a memory file that is too small");
  return map(std::move(file), size);
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

void SharedMemory::give_back(size_t offset, size_t size) const {
  (void)::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                    static_cast<off_t>(size));
}

}  // namespace bj
