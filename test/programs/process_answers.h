// SPDX-License-Identifier: MIT
// Prints what calls of processes answer, what a new program finds, and how a child ended. Nothing of it
// differs between two bare runs. Context: process_results.c alone.
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void say(const char* what, long result) {
  printf("%s: %ld\n", what, result);
  fflush(stdout);
}
/// A call that fails with -1: its errno instead, as a negative number.
static long answer(long result) { return result == -1 ? -errno : result; }
#define SAY(call) say(#call, answer((errno = 0, (long)(call))))

static long tasks(void) {
  long count = -2;
  DIR* folder = opendir("/proc/self/task");
  for (; folder && readdir(folder); ++count) {
  }
  if (folder) closedir(folder);
  return count;
}
/// Once those are gone that were waited for: the kernel lets who joins them go on a moment before.
static long tasks_left(void) {
  for (int i = 0; i < 2000 && tasks() > 1; ++i) usleep(1000);
  return tasks();
}
static void say_descriptors(void) {
  printf("descriptors:");
  for (int fd = 0; fd < 1024; ++fd)
    if (fcntl(fd, F_GETFD) >= 0) printf(" %d%s", fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? "c" : "");
  int next = open("/dev/null", O_RDONLY);
  printf(", next %d\n", next);
  close(next);
}
/// What a new program finds. The two variables that varve adds are not printed; varve-safety(7) names them.
static void report(int argc, char** argv) {
  sigset_t mask;
  char folder[PATH_MAX] = "";
  printf("report of");
  for (int i = 0; i < argc; ++i) printf(" %s", argv[i]);
  printf("\n");
  say_descriptors();
  sigprocmask(SIG_BLOCK, NULL, &mask);
  printf("blocked:");
  for (int i = 1; i < 65; ++i)
    if (sigismember(&mask, i) == 1) printf(" %d", i);
  printf("\nnot default:");
  for (int i = 1; i < 65; ++i) {
    struct sigaction action;
    if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
      printf(" %d%s", i, action.sa_handler == SIG_IGN ? "i" : "");
  }
  printf("\nleads its group: %d, its session: %d\n", getpgid(0) == getpid(), getsid(0) == getpid());
  if (!getcwd(folder, sizeof folder)) strcpy(folder, "?");
  printf("folder: %s\nenvironment:", strrchr(folder, '/') ? strrchr(folder, '/') : folder);
  for (char** entry = environ; *entry; ++entry)
    if (strncmp(*entry, "LD_PRELOAD=", 11) && strncmp(*entry, "VARVE_SESSION=", 14)) printf(" %s", *entry);
  printf("\nthreads: %ld, policy %d, stack limit %d\n", tasks(), sched_getscheduler(0),
         sysconf(_SC_THREAD_STACK_MIN) > 0);
  fflush(stdout);
}

/// How a child ended, printed by its parent: 1000 * signal + exit code.
static long ended(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return -errno;
  return WIFSIGNALED(status) ? 1000 * WTERMSIG(status) : WEXITSTATUS(status);
}
