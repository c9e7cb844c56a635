// SPDX-License-Identifier: MIT
// fault_target: what an agent must follow, in a tenth of a second: threads that wait for each other, a pipe
// and a socket, a library that comes and goes, a fork with a thread of its own, a vfork, an exec, a spawn.
// Says what it did, and in each process what the kernel has for SIGPROF; ends with 3. Context: test 59, whose
// agent is refused what it asks the kernel for; nothing of that may be seen here.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "work.h"

extern char** environ;
static uint64_t x = 5;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int arrived = 0;

static void work(void) { SPIN(x, 12 * STEPS_PER_MS); }

/// What the kernel has for this process: nothing, as nothing was set. By write(): a vfork's child has no
/// output of its own.
static void own_signals(const char* who) {
  struct sigaction action;
  stack_t stack;
  sigset_t mask;
  char line[80];
  if (sigaction(SIGPROF, NULL, &action) || sigaltstack(NULL, &stack)) _exit(27);
  if (sigprocmask(SIG_SETMASK, NULL, &mask)) _exit(27);
  const int length = snprintf(line, sizeof line, "%s: SIGPROF %s, %s, alternate stack %s\n", who,
                              action.sa_handler == SIG_DFL ? "default" : "handled",
                              sigismember(&mask, SIGPROF) ? "blocked" : "let in",
                              stack.ss_flags & SS_DISABLE ? "none" : "there");
  if (write(1, line, (size_t)length) != length) _exit(30);
}

/// Where one says that it is done, and how long it still works then.
struct Way {
  int end;
  int more_ms;
};

static void* meet(void* argument) {
  const struct Way* way = argument;
  work();
  own_signals("thread");
  pthread_mutex_lock(&lock);
  ++arrived;
  pthread_cond_broadcast(&changed);
  while (arrived < 2) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  uint64_t y = 7;
  SPIN(y, way->more_ms * STEPS_PER_MS);
  if (write(way->end, y ? "x" : "y", 1) != 1) exit(20);
  return NULL;
}

/// Two threads meet, and the caller waits for what each writes: by a pipe, then by a socket.
static void threads(void) {
  pthread_t ids[2];
  int ends[2][2];
  arrived = 0;
  if (pipe(ends[0]) || socketpair(AF_UNIX, SOCK_STREAM, 0, ends[1])) exit(21);
  struct Way ways[2] = {{ends[0][1], 0}, {ends[1][1], 2}};
  for (int i = 0; i < 2; ++i)
    if (pthread_create(&ids[i], NULL, meet, &ways[i])) exit(22);
  for (int i = 0; i < 2; ++i) {
    char byte = 0;
    if (read(ends[i][0], &byte, 1) != 1 || byte != 'x') exit(23);
  }
  for (int i = 0; i < 2; ++i)
    if (pthread_join(ids[i], NULL)) exit(24);
  for (int i = 0; i < 2; ++i) close(ends[i][0]), close(ends[i][1]);
}

static void library(void) {
  void* handle = dlopen("libm.so.6", RTLD_NOW);
  double (*cosine)(double) = handle ? (double (*)(double))dlsym(handle, "cos") : NULL;
  if (!cosine || cosine(0) != 1 || dlclose(handle)) exit(25);
}

static int ended(pid_t pid) {
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) exit(26);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

int main(int argc, char** argv) {
  if (argc > 1) return own_signals("executed"), work(), atoi(argv[1]);
  own_signals("main");
  threads();
  library();
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) own_signals("fork"), threads(), _exit(7);
  printf("fork %d\n", ended(child));
  fflush(stdout);
  child = vfork();
  if (child == 0) own_signals("vfork"), _exit(6);
  printf("vfork %d\n", ended(child));
  fflush(stdout);
  child = fork();
  if (child == 0) execl("/proc/self/exe", "fault_target", "8", NULL), _exit(28);
  printf("exec %d\n", ended(child));
  char* words[] = {"fault_target", "9", NULL};
  if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ)) return 29;
  printf("spawn %d\n", ended(child));
  FILE* unseen = fopen("/proc/self/stat", "r");  // the lowest free descriptor, as ever
  printf("next descriptor %d\n", unseen ? fileno(unseen) : -1);
  return 3;
}
