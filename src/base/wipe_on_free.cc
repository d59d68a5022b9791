// Memory is wiped when it is given back, all of it: a secret is copied by whoever handles it (the buffer of a request,
// the JSON that is read of it, the frame of a coroutine, the environment of a call), and no owner type can follow it
// everywhere. `Secret` still is what keeps a value from being printed; this is what keeps freed copies from being
// found.
//
// It costs what writing the freed bytes costs, some nanoseconds an object. Not with sanitizers, which have their own.
#include <malloc.h>
#include <string.h>

#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define BELLJAR_SANITIZED
#endif
#endif

#ifndef BELLJAR_SANITIZED
namespace {

void wipe_and_free(void* memory) {
  if (memory == nullptr) return;
  ::explicit_bzero(memory, ::malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

// NOLINTBEGIN(misc-new-delete-overloads): memory is got as ever
void operator delete(void* memory) noexcept { wipe_and_free(memory); }
void operator delete[](void* memory) noexcept { wipe_and_free(memory); }
void operator delete(void* memory, std::size_t) noexcept { wipe_and_free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { wipe_and_free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { wipe_and_free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { wipe_and_free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { wipe_and_free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { wipe_and_free(memory); }
// NOLINTEND(misc-new-delete-overloads)
#endif
