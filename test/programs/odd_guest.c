// SPDX-License-Identifier: MIT
// odd_guest CASE [FILE]: a program that takes something away from itself, or looks at itself, and then works
// in two threads and a child. What it prints must be the same under a profiler. Context: test 52.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "work.h"

extern char** environ;
static uint64_t x = 7;

static void check(int ok, const char* what) {
  if (ok) return;
  printf("%s: %s\n", what, strerror(errno));
  exit(9);
}
static void limit(int which, rlim_t most) {
  struct rlimit now = {most, most};
  check(setrlimit(which, &now) == 0, "setrlimit");
}

static void no_dump(const char* file) { (void)file, check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, "prctl"); }
static void drop_user(const char* file) {
  (void)file;
  check(setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0,
        "setresuid");
}
static void change_root(const char* file) {
  check(mkdir(file, 0755) == 0 && chroot(file) == 0 && chdir("/") == 0, "chroot");
}
static void unshare_all(const char* file) {
  (void)file, check(unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC) == 0, "unshare");
  check(sethostname("elsewhere", 9) == 0, "sethostname");
}
static void remove_directory(const char* file) {
  char away[512];
  check(mkdir(file, 0755) == 0 && chdir(file) == 0, "chdir");
  snprintf(away, sizeof away, "../%s", file);
  check(rmdir(away) == 0, "rmdir");
  check(getcwd(away, sizeof away) == NULL, "no getcwd");
}
/// All descriptors closed, then as many opened as the limit lets.
static void use_descriptors(const char* file) {
  limit(RLIMIT_NOFILE, 40);
  check(syscall(SYS_close_range, 3, ~0u, 0) == 0, "close_range");
  int count = 0, last = -1;
  for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0; last = fd) ++count;
  printf("%d descriptors to %d, then %s\n", count, last, strerror(errno));
  (void)file;
}
static void close_and_reopen(const char* file) {
  check(syscall(SYS_close_range, 3, ~0u, 0) == 0, "close_range");
  int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < 20; ++i) check(dup(fd) == fd + 1 + i, "dup");
  for (int i = 0; i < 100; ++i) check(write(fd + i % 20, "mine\n", 5) == 5, "write");
}
static void no_files(const char* file) { (void)file, limit(RLIMIT_FSIZE, 0); }
static void no_timers(const char* file) { (void)file, limit(RLIMIT_SIGPENDING, 0); }
/// Room for two stacks of 128 KB, and for no block of the agent's.
static void little_memory(const char* file) {
  long pages = 0;
  FILE* sizes = fopen("/proc/self/statm", "r");
  check(sizes && fscanf(sizes, "%ld", &pages) == 1, "statm");
  fclose(sizes);
  limit(RLIMIT_AS, (rlim_t)pages * 4096 + (272 << 10));
  (void)file;
}
/// Past the C library, as some runtimes do.
static void block_all(const char* file) {
  uint64_t all = ~0ull;
  (void)file;
  long result;
  __asm__ volatile("xor %%r10, %%r10; mov $8, %%r10; syscall"
                   : "=a"(result)
                   : "a"(SYS_rt_sigprocmask), "D"(SIG_SETMASK), "S"(&all), "d"(0)
                   : "r10", "rcx", "r11", "memory");
  check(result == 0, "sigprocmask");
}

static int compare(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }
static void print_threads(void) {
  int tasks = 0;
  DIR* listing = opendir("/proc/self/task");
  for (struct dirent* entry; (entry = readdir(listing));) tasks += entry->d_name[0] != '.';
  closedir(listing);
  char line[256];
  FILE* status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status))
    if (!strncmp(line, "Threads", 7) || !strncmp(line, "Sig", 3)) {
      if (strncmp(line, "SigCgt", 6) && strncmp(line, "SigQ", 4))
        fputs(line, stdout);  // ours stands in SigCgt
    }
  fclose(status);
  printf("%d tasks\n", tasks);
}
static int is_ours(const char* entry) {
  return !strncmp(entry, "VARVE_SESSION=", 14) || !strncmp(entry, "LD_PRELOAD=", 11);
}
/// As it was when the program was executed.
static void print_environ_file(void) {
  static char text[1 << 17];
  static char* entries[4096];
  size_t count = 0;
  FILE* file = fopen("/proc/self/environ", "r");
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  for (char* next = text; next < text + size && count < 4096; next += strlen(next) + 1)
    if (!is_ours(next)) entries[count++] = next;
  qsort(entries, count, sizeof *entries, compare);
  printf("environ: %zu\n", count);
  for (size_t i = 0; i < count; ++i) puts(entries[i]);
}
/// What is documented to differ is left out: the two variables, mappings of the agent and of its files.
static void look_at_self(const char* file) {
  (void)file;
  print_threads();
  size_t count = 0;
  for (char** entry = environ; *entry; ++entry) ++count;
  qsort(environ, count, sizeof *environ, compare);
  for (char** entry = environ; *entry; ++entry)
    if (!is_ours(*entry)) puts(*entry);
  print_environ_file();
  int stacks = 0, bad = 0, heaps = 0, writable_code = 0;
  char line[4400], rights[8];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) {
    unsigned long begin, end;
    bad += sscanf(line, "%lx-%lx %7s", &begin, &end, rights) != 3 || begin >= end;
    stacks += strstr(line, "[stack]") != NULL, heaps += strstr(line, "[heap]") != NULL;
    writable_code += rights[1] == 'w' && rights[2] == 'x';
  }
  fclose(maps);
  printf("maps: %d bad, %d stacks, %d heaps, %d writable code\n", bad, stacks, heaps, writable_code);
}

static const struct {
  const char* name;
  void (*take)(const char* file);
} cases[] = {{"dumpable", no_dump},           {"user", drop_user},
             {"root", change_root},           {"namespaces", unshare_all},
             {"directory", remove_directory}, {"descriptors", use_descriptors},
             {"reopen", close_and_reopen},    {"files", no_files},
             {"timers", no_timers},           {"memory", little_memory},
             {"blocked", block_all},          {"self", look_at_self}};

static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;  // no thread ends before it was counted
static void* work(void* name) {
  uint64_t y = 3;
  pthread_setname_np(pthread_self(), name);
  SPIN(y, 120 * STEPS_PER_MS);
  x += y & 1;
  pthread_mutex_lock(&looking);
  return pthread_mutex_unlock(&looking), NULL;
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 128 << 10);
  for (size_t i = 0; argc > 2 && i < sizeof cases / sizeof *cases; ++i)
    if (!strcmp(cases[i].name, argv[1])) cases[i].take(argv[2]);
  pthread_t ids[2];
  pthread_mutex_lock(&looking);
  for (int i = 0; i < 2; ++i)
    check((errno = pthread_create(&ids[i], &small, work, i ? "second" : "first")) == 0, "pthread_create");
  if (argc > 1 && !strcmp(argv[1], "self")) print_threads();
  pthread_mutex_unlock(&looking);
  for (int i = 0; i < 2; ++i) pthread_join(ids[i], NULL);
  int status = 0;
  if (argc > 1 && !strcmp(argv[1], "namespaces")) check(unshare(CLONE_NEWPID) == 0, "unshare");
  pid_t child = fork();
  if (child == 0) work("child"), _exit(4);
  check(child > 0 && waitpid(child, &status, 0) == child, "fork");
  printf("child %d\n", WEXITSTATUS(status));
  return 6;
}
