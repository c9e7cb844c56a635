// SPDX-License-Identifier: MIT
// own_filter HOW WHAT: works, installs a filter of system calls that allows only what it uses itself, and
// works on. HOW: prctl or syscall (the C library's functions), strict (the kernel's own filter). WHAT answers
// other calls: kill or errno; threads: kill, but what threads need is allowed; exec: errno, then another
// program; killexec: kill all but what an exec needs bare. A signal comes under the filter, to a handler that
// asks for an alternate stack and leaves by a jump, which takes no call. Context: test 52: the same output
// with and without a profiler.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "work.h"

static uint64_t x = 11;

static const int kLittle[] = {SYS_write, SYS_exit_group};
static const int kThreads[] = {SYS_write,    SYS_exit_group,      SYS_exit,           SYS_mmap,
                               SYS_munmap,   SYS_mprotect,        SYS_clone3,         SYS_clone,
                               SYS_futex,    SYS_set_robust_list, SYS_rt_sigprocmask, SYS_rt_sigaction,
                               SYS_rseq,     SYS_madvise,         SYS_gettid,         SYS_brk,
                               SYS_getrandom};
/// What a start of a program takes bare: not timers, prctl, fallocate, uname, readlink of the agent's.
static const int kStart[] = {SYS_write,
                             SYS_exit_group,
                             SYS_execve,
                             SYS_brk,
                             SYS_mmap,
                             SYS_munmap,
                             SYS_access,
                             SYS_openat,
                             SYS_close,
                             SYS_newfstatat,
                             SYS_read,
                             SYS_pread64,
                             SYS_mprotect,
                             SYS_arch_prctl,
                             SYS_set_tid_address,
                             SYS_set_robust_list,
                             SYS_rseq,
                             SYS_prlimit64,
                             SYS_getrandom,
                             SYS_fstat,
                             SYS_futex};

static struct sock_filter code[128];
static unsigned short length = 0;
static void add(struct sock_filter instruction) { code[length++] = instruction; }

static void install(const char* how, const int* allowed, size_t count, uint32_t otherwise) {
  add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
  for (size_t i = 0; i < count; ++i) {
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i], 0, 1));
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  if (otherwise != SECCOMP_RET_KILL_PROCESS) {  // a handler must be able to return
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 0, 1));
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise));
  struct sock_fprog program = {length, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) exit(20);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != -1 || errno != EFAULT)
    exit(21);  // as some ask what there is
  if (!strcmp(how, "strict")  ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
      : !strcmp(how, "prctl") ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                              : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
    exit(22);
}

static void* work(void* unused) {
  uint64_t y = 5;
  SPIN(y, 100 * STEPS_PER_MS);
  x += y & 1;
  return unused;
}
static void say(const char* text) {
  if (write(1, text, strlen(text)) < 0) _exit(23);
}

static sigjmp_buf back;
static void leave(int number) {
  say("handled\n");
  siglongjmp(back, number);
}
static void filter_by(const char* how, const char* what) {
  if (!strcmp(what, "threads"))
    install(how, kThreads, sizeof kThreads / sizeof *kThreads, SECCOMP_RET_KILL_PROCESS);
  else if (!strcmp(what, "kill"))
    install(how, kLittle, sizeof kLittle / sizeof *kLittle, SECCOMP_RET_KILL_PROCESS);
  else
    install(how, kStart, sizeof kStart / sizeof *kStart,
            !strcmp(what, "killexec") ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM);
}

int main(int argc, char** argv) {
  if (argc == 2) return say("another program\n"), 0;
  const char *how = argv[1], *what = argv[2];
  work(NULL);
  sigaction(SIGVTALRM, &(struct sigaction){.sa_handler = leave, .sa_flags = SA_ONSTACK}, NULL);
  if (sigsetjmp(back, 0) == 0) {
    // Of CPU time, which does not pass before there is a filter, however long others have the processor.
    setitimer(ITIMER_VIRTUAL, &(struct itimerval){{0, 0}, {0, 60000}}, NULL);
    filter_by(how, what);
    for (;;) work(NULL);
  }
  work(NULL);
  if (!strcmp(what, "threads")) {
    pthread_t id;
    if (pthread_create(&id, NULL, work, NULL) || pthread_join(id, NULL)) _exit(24);
  }
  say("done\n");
  char* words[] = {argv[0], "child", NULL};
  if (strstr(what, "exec")) execv("/proc/self/exe", words), _exit(25);
  if (!strcmp(how, "strict")) syscall(SYS_exit, 5);  // _exit() is exit_group, which that does not know
  _exit(5);
}
