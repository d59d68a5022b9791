// attack: 32-bit system calls by int 0x80
// family: 9
// runs: exec root
// stopped-by: seccomp
// needs: i386
//
// Other numbers, same kernel: a filter that does not look at the architecture takes i386's 20 (getpid)
// for writev and lets through what it meant to forbid.
#include <errno.h>
#include <stdio.h>
#include <string.h>
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

static long int80_getpid(void) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
  return (int)result;
}

int main(void) { return verdict(int80_getpid, "int 0x80"); }
