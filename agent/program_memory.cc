// SPDX-License-Identifier: MIT
// See program_memory.h.
// Context: any thread of the target, its signal handlers included.
#include "agent/program_memory.h"

#include <cstring>

#include "agent/signal/readable_page.h"

namespace varve::agent {
namespace {

/// Remembers the page that was asked for last: strings lie side by side.
class ReadablePages {
 public:
  bool contain(uintptr_t address) {
    const uintptr_t page = page_of(address);
    if (page == known_) return true;
    if (!can_read_page(page)) return false;
    known_ = page;
    return true;
  }

 private:
  uintptr_t known_ = 1;  // no page begins there
};

bool contains_string(ReadablePages& pages, const char* string) {
  for (auto at = uintptr_t(string);;) {
    if (!pages.contain(at)) return false;
    const uintptr_t end = page_of(at) + kPageBytes;
    if (std::memchr(reinterpret_cast<const char*>(at), 0, end - at)) return true;
    at = end;
  }
}

bool can_write_word(uintptr_t address) {
  return !failed(raw_syscall(__NR_rt_sigprocmask, 0, 0, long(address), kKernelSetBytes));
}

}  // namespace

bool can_read(const void* address, size_t bytes) {
  const auto first = uintptr_t(address);
  for (uintptr_t page = page_of(first); page < first + bytes; page += kPageBytes)
    if (!can_read_page(page)) return false;
  return first + bytes >= first;
}

bool can_write_over(void* address, size_t bytes) {
  const auto first = uintptr_t(address);
  return can_write_word(first) && can_write_word(first + bytes - sizeof(uint64_t));
}

bool can_read_strings(char* const* strings) {
  ReadablePages tables, texts;
  for (char* const* at = strings; at; ++at) {
    // An entry may stand across the border of two pages.
    if (!tables.contain(uintptr_t(at)) || !tables.contain(uintptr_t(at + 1) - 1)) return false;
    if (!*at) return true;
    if (!contains_string(texts, *at)) return false;
  }
  return true;
}

}  // namespace varve::agent
