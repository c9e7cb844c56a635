// SPDX-License-Identifier: MIT
// flags: -D_GNU_SOURCE
// process_results [KIND]: starts processes in every way there is, with every failure, and prints what each call
// says and what the new program finds: descriptors, mask, dispositions, group, folder, environment, threads. A
// run with a guest in the process prints the same. Nothing that it prints differs between two bare runs.
// Context: test 31. Without a KIND all of them, each in a child of its own.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "process_answers.h"
#include "work.h"

static char self[4096];
static uint64_t x = 3;

static char* const kEnvironment[] = {"ONE=1", "TWO=2", NULL};
static char* words[] = {"child", "report", "a b", NULL};

static void work(void) { SPIN(x, 30 * STEPS_PER_MS); }

// --- exec that fails ---------------------------------------------------------------------------------------
/// In the folder "here" that the test makes.
static void make_files(void) {
  static const char text[] = "echo a script without a first line: $1\n";
  mkdir("here/folder", 0755);
  int fd = open("here/script", O_WRONLY | O_CREAT | O_TRUNC, 0755);
  if (fd < 0 || write(fd, text, sizeof text - 1) < 0) exit(9);
  close(fd);
  close(open("here/plain", O_WRONLY | O_CREAT, 0644));
  close(open("here/empty", O_WRONLY | O_CREAT, 0755));
  if (symlink("loop", "here/loop") && errno != EEXIST) exit(9);
}
static char** big_arguments(void) {
  enum { kWords = 64, kBytes = 130000 };  // 8 MB: more than a quarter of the stack's limit
  static char* list[kWords + 1];
  for (int i = 0; i < kWords; ++i) list[i] = memset(calloc(1, kBytes + 1), 'x', kBytes);
  return list;
}
static void do_exec_failures(void) {
  char too_long[PATH_MAX + 10];
  memset(too_long, 'a', sizeof too_long);
  too_long[sizeof too_long - 1] = 0;
  make_files();
  char** big = big_arguments();
  int folder = open("here", O_RDONLY | O_DIRECTORY), plain = open("here/plain", O_RDONLY);
  SAY(execve("here/nothing", words, kEnvironment));
  SAY(execve("here/plain/x", words, kEnvironment));
  SAY(execve("here/folder", words, kEnvironment));
  SAY(execve("here/plain", words, kEnvironment));
  SAY(execve("here/empty", words, kEnvironment));
  SAY(execve("here/script", words, kEnvironment));
  SAY(execve("here/loop", words, kEnvironment));
  SAY(execve("", words, kEnvironment));
  SAY(execve(too_long, words, kEnvironment));
  SAY(execve(self, big, kEnvironment));
  SAY(execve(self, words, big));
  SAY(execv("here/nothing", words));
  SAY(execvp("no-such-program-anywhere", words));
  SAY(execvp("", words));
  SAY(execvpe("here/plain", words, kEnvironment));
  SAY(execl("here/nothing", "a", "b", (char*)NULL));
  SAY(execlp("no-such-program-anywhere", "a", (char*)NULL));
  SAY(execle("here/nothing", "a", (char*)NULL, kEnvironment));
  SAY(fexecve(-1, words, kEnvironment));
  SAY(fexecve(folder, words, kEnvironment));
  SAY(fexecve(plain, words, kEnvironment));
  SAY(execveat(folder, "nothing", words, kEnvironment, 0));
  SAY(execveat(folder, "loop", words, kEnvironment, AT_SYMLINK_NOFOLLOW));
  SAY(execveat(folder, "plain", words, kEnvironment, 0x40000000));
  SAY(execveat(-1, "plain", words, kEnvironment, 0));
  work();  // the program goes on, and is sampled
  pid_t pid = -7;
  SAY(posix_spawn(&pid, "here/nothing", NULL, NULL, words, kEnvironment));
  SAY(posix_spawn(&pid, "here/plain", NULL, NULL, words, kEnvironment));
  SAY(posix_spawn(&pid, self, NULL, NULL, big, kEnvironment));
  SAY(posix_spawnp(&pid, "no-such-program-anywhere", NULL, NULL, words, kEnvironment));
  say("pid untouched", pid == -7);
  SAY(waitpid(-1, NULL, WNOHANG));
  for (int i = 0; i < 3; ++i) {
    errno = 0;
    if ((pid = vfork()) == 0) execve("here/nothing", words, kEnvironment), _exit(errno);
    SAY(ended(pid));
  }
  if ((pid = fork()) == 0) execvp("here/script", words), _exit(99);  // the C library gives it to sh
  SAY(ended(pid));
  say_descriptors();
}

// --- new programs --------------------------------------------------------------------------------------------
static void do_execs(void) {
  int file = open(self, O_RDONLY | O_CLOEXEC), folder = open("/proc/self", O_PATH | O_CLOEXEC);
  dup2(1, 40);  // inherited
  fcntl(dup2(1, 41), F_SETFD, FD_CLOEXEC);
  for (int way = 0; way < 10; ++way) {
    pid_t pid = way & 1 ? vfork() : fork();
    if (pid == 0) {
      if (way == 0) execve(self, words, kEnvironment);
      if (way == 1) execv(self, words);
      if (way == 2) execvp(self, words);
      if (way == 3) execvpe(self, words, kEnvironment);
      if (way == 4) execl(self, "child", "report", "l", (char*)NULL);
      if (way == 5) execlp(self, "child", "report", "lp", (char*)NULL);
      if (way == 6) execle(self, "child", "report", "le", (char*)NULL, kEnvironment);
      if (way == 7) fexecve(file, words, kEnvironment);
      if (way == 8) execveat(folder, "exe", words, kEnvironment, 0);
      if (way == 9) execveat(file, "", words, kEnvironment, AT_EMPTY_PATH);
      _exit(98);
    }
    say("exec", ended(pid));
  }
}
/// chain N: one process that becomes a program N times.
static void do_chain(void) {
  pid_t pid = fork();
  if (pid == 0) execl(self, "link", "chain", "6", (char*)NULL), _exit(98);
  SAY(ended(pid));
}
static int link_of_chain(const char* left) {
  char number[16];
  SPIN(x, 15 * STEPS_PER_MS);
  if (!strcmp(left, "0")) return report(0, NULL), 5;
  snprintf(number, sizeof number, "%d", atoi(left) - 1);
  execl(self, "link", "chain", number, (char*)NULL);
  return 98;
}

static void spawn_with(const char* what, posix_spawn_file_actions_t* actions, posix_spawnattr_t* attributes) {
  pid_t pid = 0;
  printf("%s\n", what);
  fflush(stdout);
  int result = posix_spawn(&pid, self, actions, attributes, words, kEnvironment);
  if (pid) SAY(ended(pid));
  say("posix_spawn", result);  // after what the child says
}
static void do_spawns(void) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t set;
  struct sched_param priority = {0};
  int extra = open("/dev/null", O_RDONLY);
  spawn_with("plain", NULL, NULL);

  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 17, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, 1, 23);
  posix_spawn_file_actions_addclose(&actions, extra);
  posix_spawn_file_actions_addchdir_np(&actions, "/usr");
  spawn_with("file actions", &actions, NULL);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  spawn_with("closefrom", &actions, NULL);
  posix_spawn_file_actions_addopen(&actions, 5, "/no/such/file", O_RDWR, 0);
  spawn_with("an action that fails", &actions, NULL);

  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  spawn_with("a group of its own", NULL, &attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  spawn_with("a session of its own", NULL, &attributes);
  sigemptyset(&set), sigaddset(&set, SIGUSR1), sigaddset(&set, SIGPROF), sigaddset(&set, SIGCHLD);
  posix_spawnattr_setsigmask(&attributes, &set);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  spawn_with("a mask", NULL, &attributes);
  signal(SIGUSR1, SIG_IGN), signal(SIGHUP, SIG_IGN), signal(SIGPROF, SIG_IGN);
  spawn_with("ignored signals", NULL, NULL);
  posix_spawnattr_setsigdefault(&attributes, &set);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  spawn_with("signals set back", NULL, &attributes);
  signal(SIGPROF, SIG_DFL);
  posix_spawnattr_setschedpolicy(&attributes, SCHED_BATCH);
  posix_spawnattr_setschedparam(&attributes, &priority);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSCHEDULER | POSIX_SPAWN_RESETIDS);
  spawn_with("a policy", NULL, &attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_USEVFORK);
  spawn_with("by vfork", NULL, &attributes);
}

// --- forks ---------------------------------------------------------------------------------------------------
static void do_forks(void) {
  pid_t pid = fork();
  if (pid == 0) say("child's threads", tasks()), say_descriptors(), _exit(3);
  SAY(ended(pid));
  if ((pid = _Fork()) == 0) work(), say("threads of _Fork", tasks()), _exit(4);
  SAY(ended(pid));
  if ((pid = (pid_t)syscall(SYS_fork)) == 0) work(), say("raw fork", tasks()), _exit(5);
  SAY(ended(pid));
  if ((pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) == 0) say_descriptors(), exit(6);
  SAY(ended(pid));
  if ((pid = fork()) == 0) abort();
  SAY(ended(pid));
  if ((pid = fork()) == 0) raise(SIGPROF), _exit(7);
  SAY(ended(pid));
  if ((pid = fork()) == 0) pause();
  kill(pid, SIGKILL);
  siginfo_t info = {0};
  SAY(waitid(P_PID, (id_t)pid, &info, WEXITED));
  say("code and status", info.si_code * 1000 + info.si_status);
  volatile int seen = 0;
  if ((pid = vfork()) == 0) seen = 11, _exit(8);
  SAY(ended(pid));
  SAY(seen);
  SAY(system(NULL) != 0);
  SAY(system("exit 3"));
  SAY(system("kill -9 $$"));
  SAY(system("no-such-program-anywhere 2>/dev/null"));
  char line[64] = "";
  FILE* pipe = popen("echo of popen; exit 4", "r");
  SAY(pipe && fgets(line, sizeof line, pipe) != NULL);
  printf("%s", line);
  SAY(pclose(pipe));
  SAY(wait(NULL));
  say_descriptors();
}

/// A daemon: two forks, its own session, no descriptor of its parent's.
static void do_daemon(void) {
  int ends[2], number = 0;
  if (pipe(ends)) exit(9);
  pid_t pid = fork();
  if (pid == 0) {
    setsid();
    if (fork()) _exit(0);
    if (chdir("/")) _exit(9);
    dup2(ends[1], 3);
    closefrom(4);
    for (int fd = 0; fd < 3; ++fd) close(fd);
    SPIN(x, 40 * STEPS_PER_MS);  // files are written by path, and the descriptors stay free
    number = open("/dev/null", O_RDWR) * 100 + (int)tasks();
    _exit(write(3, &number, sizeof number) < 0);
  }
  SAY(ended(pid));
  SAY(read(ends[0], &number, sizeof number));
  SAY(number);
}

static void do_closefrom(void) {
  for (int i = 0; i < 20; ++i) dup(0);
  closefrom(3);
  for (int i = 0; i < 8; ++i) {
    SPIN(x, 25 * STEPS_PER_MS);
    if (i == 4) close(0);
    int fd = open("/dev/null", O_RDONLY);
    if (fd != (i > 3 ? 0 : 3)) say("a number that was not the lowest", fd);
    close(fd);
  }
  SAY(close_range(3, ~0U, 0));
  SAY(dup2(1, 100));
  SAY(close_range(3, ~0U, CLOSE_RANGE_CLOEXEC));
  say_descriptors();
  pid_t pid = fork();
  if (pid == 0) execv(self, words), _exit(98);
  SAY(ended(pid));
}

/// Every child inherits the descriptors and the environment that it would have, with one left of everything.
static void do_limits(void) {
  struct rlimit files = {8, 8}, core = {0, 0};
  SAY(setrlimit(RLIMIT_CORE, &core));
  SAY(setrlimit(RLIMIT_NOFILE, &files));
  int count = 0;
  while (dup(0) >= 0) ++count;
  say("descriptors until none is left", count);
  SPIN(x, 60 * STEPS_PER_MS);
  SAY(open("/dev/null", O_RDONLY));
  pid_t pid = fork();
  if (pid == 0) work(), _exit(21);
  SAY(ended(pid));
}

// --- threads that the C library does not know ------------------------------------------------------------------
static volatile int raw_result;
static int raw_thread(void* argument) {
  uint64_t y = 5;
  SPIN(y, 30 * STEPS_PER_MS);
  raw_result = *(int*)argument + (y == 0);
  return 0;
}
static int raw_child(void* argument) {
  raw_result = *(int*)argument;
  if (write(1, "raw child\n", 10) < 0) return 1;
  return 12;
}
static void do_clones(void) {
  enum { kBytes = 64 * 1024 };
  int value = 31;
  char* stack = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pid_t pid = clone(raw_child, stack + kBytes, CLONE_VM | CLONE_VFORK | SIGCHLD, &value);
  SAY(ended(pid));
  SAY(raw_result);
  value = 32;
  pid = clone(raw_child, stack + kBytes, SIGCHLD, &value);  // a memory of its own
  SAY(ended(pid));
  SAY(raw_result);
  for (int i = 0; i < 3; ++i) {
    value = 40 + i;
    static pid_t alive;
    alive = 1;
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                CLONE_CHILD_CLEARTID;
    SAY(clone(raw_thread, stack + kBytes, flags, &value, NULL, NULL, &alive) > 0);
    while (__atomic_load_n(&alive, __ATOMIC_ACQUIRE)) SPIN(x, STEPS_PER_MS);
    SAY(raw_result);
  }
  say("threads", tasks_left());
}

/// Forks of one thread while others allocate, lock and fork.
static volatile int over;
static void* allocates(void* unused) {
  while (!over) free(malloc(1 + (x & 0xfff)));
  return unused;
}
static void* forks(void* failures) {
  for (int i = 0; i < 15; ++i) {
    pid_t pid = fork();
    if (pid == 0) {
      free(malloc(100000));
      FILE* file = fopen("/dev/null", "r");
      exit(file && tasks() == 1 ? 44 : 45);
    }
    *(int*)failures += ended(pid) != 44;
  }
  return NULL;
}
static void do_fork_storm(void) {
  pthread_t threads[6];
  int failures[2] = {0, 0};
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, allocates, NULL);
  for (int i = 0; i < 2; ++i) pthread_create(&threads[4 + i], NULL, forks, &failures[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[4 + i], NULL);
  over = 1;
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  say("failed forks", failures[0] + failures[1]);
  say("threads", tasks_left());
}

static const struct {
  const char* name;
  void (*run)(void);
} kinds[] = {{"exec_failures", do_exec_failures},
             {"execs", do_execs},
             {"chain", do_chain},
             {"spawns", do_spawns},
             {"forks", do_forks},
             {"daemon", do_daemon},
             {"closefrom", do_closefrom},
             {"limits", do_limits},
             {"clones", do_clones},
             {"fork_storm", do_fork_storm}};

int main(int argc, char** argv) {
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) return 2;
  alarm(60);
  if (argc > 1 && !strcmp(argv[1], "report")) return report(argc, argv), 33;
  if (argc > 2 && !strcmp(argv[1], "chain")) return link_of_chain(argv[2]);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (argc > 1 && strcmp(argv[1], kinds[i].name)) continue;
    printf("--- %s\n", kinds[i].name);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) kinds[i].run(), exit(0);
    say("its end", ended(pid));
  }
}
