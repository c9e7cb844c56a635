// SPDX-License-Identifier: MIT
// wait_for(): a thread waits 20 ms for a mutex. Context: programs of tests.
#include <pthread.h>
#include <unistd.h>

#include "waits_now.h"

static void* take(void* lock) {
  will_wait();
  pthread_mutex_lock(lock);
  return pthread_mutex_unlock(lock), NULL;
}

static void wait_for(pthread_mutex_t* lock) {
  pthread_t thread;
  pthread_mutex_lock(lock);
  pthread_create(&thread, NULL, take, lock);
  until_it_waits();
  usleep(20000);  // a short wait would have no stack
  pthread_mutex_unlock(lock);
  pthread_join(thread, NULL);
}
