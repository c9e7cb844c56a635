#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that were linked with a C library of long ago mean its functions: conditions that are one pointer, a posix_spawn that gives
# a file without "#!" to the shell. They are told apart by the version of the symbol, and no hook may stand for both.
. "$(dirname "$0")/guest.inc"

build program -lpthread <<'C'
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int old_init(void*, const void*), old_wait(void*, pthread_mutex_t*), old_signal(void*), old_broadcast(void*), old_destroy(void*);
int old_timedwait(void*, pthread_mutex_t*, const struct timespec*);
int old_spawn(pid_t*, const char*, const void*, const void*, char* const*, char* const*);
int old_spawnp(pid_t*, const char*, const void*, const void*, char* const*, char* const*);
__asm__(".symver old_init,pthread_cond_init@GLIBC_2.2.5");
__asm__(".symver old_wait,pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver old_timedwait,pthread_cond_timedwait@GLIBC_2.2.5");
__asm__(".symver old_signal,pthread_cond_signal@GLIBC_2.2.5");
__asm__(".symver old_broadcast,pthread_cond_broadcast@GLIBC_2.2.5");
__asm__(".symver old_destroy,pthread_cond_destroy@GLIBC_2.2.5");
__asm__(".symver old_spawn,posix_spawn@GLIBC_2.2.5");
__asm__(".symver old_spawnp,posix_spawnp@GLIBC_2.2.5");
extern char** environ;
static struct { void* condition; long guard; } old = {0, 1234567};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;
static void* waits(void* unused) {
  pthread_mutex_lock(&lock);
  while (!ready) old_wait(&old.condition, &lock);
  pthread_mutex_unlock(&lock);
  return unused;
}
static void spawned(int error, pid_t child) {
  int status = -1;
  if (!error) waitpid(child, &status, 0);
  printf("error %d, status %d\n", error, status);
}
int main(void) {
  pthread_t thread;
  struct timespec past = {1, 0};
  char* words[] = {"./script", NULL};
  pid_t child = 0;
  old_init(&old.condition, NULL);
  pthread_create(&thread, NULL, waits, NULL);
  usleep(50000);
  pthread_mutex_lock(&lock);
  ready = 1;
  old_signal(&old.condition), old_broadcast(&old.condition);
  printf("late %d\n", old_timedwait(&old.condition, &lock, &past) == ETIMEDOUT);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
  printf("guard %ld, a pointer %d\n", old.guard, old.condition != NULL);
  old_destroy(&old.condition);
  fflush(stdout);
  int error = old_spawn(&child, "./script", NULL, NULL, words, environ);
  spawned(error, child);
  error = old_spawnp(&child, "./script", NULL, NULL, words, environ);
  spawned(error, child);
  return 0;
}
C
printf 'exit 3\n' >script && chmod +x script
same old ./program
expect_eq "what the old functions do" "$(tr '\n' ' ' <bare)" "late 1 guard 1234567, a pointer 1 error 0, status 768 error 0, status 768 "
