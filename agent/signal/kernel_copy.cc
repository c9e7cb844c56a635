// SPDX-License-Identifier: MIT
// See kernel_copy.h.
// Context: signal.
#include "agent/signal/kernel_copy.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "agent/signal/filtered.h"
#include "agent/signal/raw_syscall.h"
#include "agent/signal/readable_page.h"

namespace varve::agent {
namespace {

bool copy_probed(uint64_t address, void* to, uint64_t size) {
  for (uint64_t page = page_of(address); page < address + size; page += kPageBytes)
    if (!can_read_page(page)) return false;
  std::memcpy(to, reinterpret_cast<const void*>(address), size);
  return true;
}

}  // namespace

bool copy_by_kernel(uint64_t address, void* to, uint64_t size) {
  if (address + size < address) return false;
  if (is_filtered()) return copy_probed(address, to, size);
  const iovec here{to, size}, there{reinterpret_cast<void*>(address), size};
  // By the thread's number: the process's is that of its first thread, which may have ended.
  const long self = raw_syscall(__NR_gettid);
  const long copied = raw_syscall(__NR_process_vm_readv, self, as_arg(&here), 1, as_arg(&there), 1);
  const bool refused = failed(copied) && copied != -EFAULT;
  return refused ? copy_probed(address, to, size) : copied == long(size);
}

bool WindowedCopy::copy(ByteSource& self, uint64_t address, void* to, uint64_t size) {
  return static_cast<WindowedCopy&>(self).read(address, to, size);
}

bool WindowedCopy::read(uint64_t address, void* to, uint64_t size) {
  if (!holds(address, size)) {
    begin_ = address;
    // The next page may be gone, and this read not need it.
    size_ = std::min(window_bytes_, page_of(address) + kPageBytes - address);
    if (size > size_) return size_ = 0, copy_by_kernel(address, to, size);
    if (!copy_by_kernel(address, window_, size_)) return size_ = 0, false;
  }
  std::memcpy(to, window_ + (address - begin_), size);
  return true;
}

}  // namespace varve::agent
