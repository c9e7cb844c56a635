// SPDX-License-Identifier: MIT
// See stack_limits.h.
// Context: agent start, and the start of a thread.
#include "agent/stack_limits.h"

#include <pthread.h>
#include <sys/resource.h>

#include "agent/signal/raw_syscall.h"

extern "C" void* __libc_stack_end;  // of the dynamic loader: the stack pointer at process entry

namespace varve::agent {
namespace {

constexpr uint64_t kPage = 4096;
/// mmap_base() in the kernel keeps at least this much free below the stack, whatever RLIMIT_STACK says.
constexpr uint64_t kLeastStackGap = uint64_t{128} << 20;
uint64_t default_stack_bytes = 0;

}  // namespace

void learn_default_stack_size() {
  pthread_attr_t attributes;
  size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
  }
  default_stack_bytes = bytes;
}

StackBounds main_stack() {
  const auto high = uint64_t(__libc_stack_end);
  return {(high & ~(kPage - 1)) + kPage - kLeastStackGap, high};
}

/// The lower end is taken an eighth too high where it is computed: guard, descriptor and static TLS lie
/// within the size, and an address below it is only read more slowly (probed), never wrongly.
StackBounds thread_stack(uint64_t bytes, uint64_t low) {
  auto high = uint64_t(pthread_self());
  if (low) return {low, high};
  if (!bytes) bytes = default_stack_bytes;
  return {high - bytes + bytes / 8, high};
}

}  // namespace varve::agent
