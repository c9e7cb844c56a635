// SPDX-License-Identifier: MIT
// Probing of pages; see stack_memory.h.
// Context: signal.
#include "agent/signal/stack_memory.h"

#include <cerrno>

#include "agent/signal/raw_syscall.h"

namespace varve::agent {
namespace {

constexpr uint64_t kPageSize = 4096;
constexpr long kSysRtSigprocmask = 14;
constexpr uint64_t kInvalidHow = 0x7fffffff;
constexpr uint64_t kKernelSigsetSize = 8;

}  // namespace

void StackMemory::focus(uint64_t stack_pointer) {
  span_ = 0;
  if (!own_.contains(stack_pointer)) return;
  // From the start of the page, so that words a leaf keeps below its stack pointer mostly need no probe.
  uint64_t page = stack_pointer & ~(kPageSize - 1);
  low_ = page > own_.low ? page : own_.low;
  if (own_.high - low_ >= sizeof(uint64_t)) span_ = own_.high - low_ - sizeof(uint64_t) + 1;
}

bool StackMemory::readable(uint64_t address, uint64_t size) {
  uint64_t first = address & ~(kPageSize - 1);
  uint64_t last = (address + size - 1) & ~(kPageSize - 1);
  return page_readable(first) && (last == first || page_readable(last));
}

// rt_sigprocmask copies the new mask from user memory before it looks at `how`: EFAULT says that the page
// cannot be read, EINVAL that it can and that nothing was changed. 168 ns, against 800 ns for
// process_vm_readv.
bool StackMemory::page_readable(uint64_t page) {
  for (uint64_t known : pages_)
    if (known == page) return true;
  if (raw_syscall(kSysRtSigprocmask, kInvalidHow, long(page), 0, kKernelSigsetSize) != -EINVAL) return false;
  pages_[next_++ % kPages] = page;
  return true;
}

}  // namespace varve::agent
