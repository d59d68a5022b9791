// attack: a 64-bit program that calls into 32-bit code
// family: 9
// runs: exec root
// stopped-by: seccomp
// needs: i386
//
// The code segment decides the mode: a far call to selector 0x23 is a 32-bit process until it returns.
// Exploits use it to step around filters and emulators ("heaven's gate").
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// In a child: a filter may kill for this, and a kernel without it sends SIGSEGV.
static int verdict(long (*entry)(void), const char* name) {
  int answer[2];
  if (pipe(answer) != 0) return 43;
  pid_t child = fork();
  if (child == 0) {
    long result = entry();
    _exit(write(answer[1], &result, sizeof result) == sizeof result ? 0 : 1);
  }
  int status = 0;
  long result = 0;
  close(answer[1]);
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    printf("HELD: %s: killed by signal %d\n", name, WTERMSIG(status));
    return 0;
  }
  if (read(answer[0], &result, sizeof result) != sizeof result) {
    printf("BROKEN: %s: no answer\n", name);
    return 43;
  }
  if (result == -EPERM || result == -ENOSYS) {
    printf("HELD: %s: %s\n", name, strerror((int)-result));
    return 0;
  }
  printf("ESCAPED: %s answered %ld\n", name, result);
  return 42;
}

static long far_call_getpid(void) {
  static const unsigned char code[] = {0xb8, 20,   0, 0, 0,  // mov eax, 20 (getpid)
                                       0xcd, 0x80,           // int 0x80
                                       0xcb};                // far return
  const int anything = PROT_READ | PROT_WRITE | PROT_EXEC;
  unsigned char* low = mmap(NULL, 16384, anything, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (low == MAP_FAILED) return -ENOMEM;
  memcpy(low, code, sizeof code);
  struct {
    uint32_t offset;
    uint16_t selector;
  } __attribute__((packed)) target = {(uint32_t)(uintptr_t)low, 0x23};
  long result;
  // A stack below 4 GB for as long as registers are 32 bits wide: the upper half of the pointer would be lost.
  __asm__ volatile(
      "mov %%rsp, %%rbx\n"
      "mov %[stack], %%rsp\n"
      "lcall *(%[target])\n"
      "mov %%rbx, %%rsp\n"
      : "=a"(result)
      : [stack] "r"(low + 16000), [target] "r"(&target)
      : "memory", "rbx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc");
  return (int)result;
}

int main(void) { return verdict(far_call_getpid, "far call"); }
