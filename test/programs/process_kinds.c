// SPDX-License-Identifier: MIT
// process_kinds KIND: starts processes in one of the ways there are; each of them works for 60 ms and writes
// one line. Without a KIND it is such a child. Context: test 46, which counts the files.
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "work.h"

extern char** environ;
static char* self;
static uint64_t x = 3;

static void say(const char* who) {
  SPIN(x, 60 * STEPS_PER_MS);
  if (write(1, who, strlen(who)) < 0) exit(9);
}
static void wait_child(pid_t pid) {
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || status) exit(8);
}
static char* child_arguments[] = {"child", NULL};

static void do_fork(void) {
  pid_t pid = fork();
  if (!pid) say("fork child\n"), exit(0);
  wait_child(pid);
}
static void do_fork_exit(void) {
  pid_t pid = fork();
  if (!pid) say("_exit child\n"), _exit(0);
  wait_child(pid);
}
static void do_vfork(void) {
  pid_t pid = vfork();
  if (!pid) execv(self, child_arguments), _exit(1);
  wait_child(pid);
}
static void do_spawn(void) {
  pid_t pid = -1;
  if (posix_spawn(&pid, self, NULL, NULL, child_arguments, environ)) exit(7);
  wait_child(pid);
}
static void shell(char* command) { sprintf(command, "exec '%s'", self); }
static void do_system(void) {
  char command[4200];
  shell(command);
  if (system(command)) exit(6);
}
static void do_popen(void) {
  char command[4200], line[64] = "";
  shell(command);
  FILE* pipe = popen(command, "r");
  if (!pipe || !fgets(line, sizeof line, pipe) || pclose(pipe)) exit(5);
  say(line);
}
static void do_double_fork(void) {
  pid_t pid = fork();
  if (!pid) {
    do_fork();
    say("middle\n"), exit(0);
  }
  wait_child(pid);
}
static void do_failing_exec(void) {
  errno = 0;
  if (execl("/no/such/program", "x", NULL) != -1 || errno != ENOENT) exit(4);
  say("exec failed\n");
}
static void do_empty_environment(void) {
  pid_t pid = fork();
  if (!pid) {
    clearenv();
    execle(self, "child", NULL, (char*[]){"ONLY=this", NULL});
    _exit(1);
  }
  wait_child(pid);
}
/// A child that lives and is reaped when its parent has begun to end.
static void do_quick_exit(void) {
  if (at_quick_exit(do_fork)) exit(7);
  say("quick exit\n");
  quick_exit(0);
}
static void* exec_in_thread(void* unused) {
  execv(self, child_arguments);
  return unused;
}
static void* fork_in_thread(void* unused) {
  do_fork();
  return unused;
}
static void in_thread(void* (*routine)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, routine, NULL) || pthread_join(thread, NULL)) exit(3);
}

int main(int argc, char** argv) {
  static char path[4096];
  if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) return 2;
  self = path;
  const char* kind = argc > 1 ? argv[1] : "";
  struct {
    const char* name;
    void (*run)(void);
  } kinds[] = {{"fork", do_fork},
               {"fork_exit", do_fork_exit},
               {"vfork", do_vfork},
               {"spawn", do_spawn},
               {"system", do_system},
               {"popen", do_popen},
               {"double_fork", do_double_fork},
               {"failing_exec", do_failing_exec},
               {"empty_environment", do_empty_environment},
               {"quick_exit", do_quick_exit}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (!strcmp(kind, kinds[i].name)) kinds[i].run();
  if (!strcmp(kind, "exec_in_thread")) in_thread(exec_in_thread);
  if (!strcmp(kind, "fork_in_thread")) in_thread(fork_in_thread);
  if (!strcmp(kind, "preload")) printf("%s\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "none");
  if (!strcmp(kind, "preload_of_child")) return system("echo ${LD_PRELOAD:-none}");
  say("end\n");
}
