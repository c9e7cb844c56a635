// SPDX-License-Identifier: MIT
// See stack_memory.h.
// Context: signal.
#include "agent/signal/stack_memory.h"

#include "agent/signal/readable_page.h"

namespace varve::agent {

void StackMemory::focus(uint64_t stack_pointer) {
  span_ = 0;
  if (!own_.contains(stack_pointer)) return;
  // From the start of the page, so that words a leaf keeps below its stack pointer mostly need no probe.
  uint64_t page = page_of(stack_pointer);
  low_ = page > own_.low ? page : own_.low;
  if (own_.high - low_ >= sizeof(uint64_t)) span_ = own_.high - low_ - sizeof(uint64_t) + 1;
}

bool StackMemory::readable(uint64_t address, uint64_t size) {
  uint64_t first = page_of(address), last = page_of(address + size - 1);
  return page_readable(first) && (last == first || page_readable(last));
}

bool StackMemory::page_readable(uint64_t page) {
  for (uint64_t known : pages_)
    if (known == page) return true;
  if (!can_read_page(page)) return false;
  pages_[next_++ % kPages] = page;
  return true;
}

}  // namespace varve::agent
