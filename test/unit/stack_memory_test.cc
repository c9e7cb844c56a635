// SPDX-License-Identifier: MIT
// Reading memory that may not be there: at the edges of pages and stacks, with every kind of wild address.
// Context: tests.
#include "agent/signal/stack_memory.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/mman.h>

#include "agent/signal/code_bytes.h"

using namespace varve::agent;

namespace {

constexpr uint64_t kPage = 4096;

/// Two readable pages between two that are not.
struct Island {
  uint64_t base;
  Island() {
    void* memory = mmap(nullptr, 4 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base = reinterpret_cast<uint64_t>(memory) + kPage;
    mprotect(reinterpret_cast<void*>(base), 2 * kPage, PROT_READ | PROT_WRITE);
    std::memset(reinterpret_cast<void*>(base), 0x11, kPage);
    std::memset(reinterpret_cast<void*>(base + kPage), 0x22, kPage);
  }
  uint64_t end() const { return base + 2 * kPage; }
};

}  // namespace

Test(stack_memory, reads_probed_pages) {
  Island island;
  StackMemory memory({});
  uint64_t value = 0;
  cr_assert(memory.read(island.base, &value));
  cr_assert_eq(value, 0x1111111111111111);
  cr_assert(memory.read(island.end() - 8, &value));
  cr_assert_eq(value, 0x2222222222222222);
  cr_assert(memory.read(island.base + kPage - 4, &value));
  cr_assert_eq(value, 0x2222222211111111);
}

Test(stack_memory, refuses_what_is_not_there) {
  Island island;
  StackMemory memory({});
  uint64_t value;
  for (uint64_t address :
       {uint64_t{0}, uint64_t{8}, island.base - 8, island.base - 1, island.base - 7, island.end() - 7,
        island.end() - 1, island.end(), ~uint64_t{0}, ~uint64_t{6}, uint64_t{1} << 63, uint64_t{1} << 47,
        (uint64_t{1} << 47) - 4, 0xffffffffff600000}) {
    cr_assert_not(memory.read(address, &value), "%lx", address);
  }
}

Test(stack_memory, pages_that_go_are_seen_by_the_next_walk) {
  Island island;
  uint64_t value;
  StackMemory first({});
  cr_assert(first.read(island.base, &value));
  munmap(reinterpret_cast<void*>(island.base), kPage);
  StackMemory second({});
  cr_assert_not(second.read(island.base, &value));
}

Test(stack_memory, own_stack_is_bounded) {
  Island island;
  // The own stack ends in the middle of the second page; what follows is readable all the same, by a probe.
  const StackBounds own{island.base, island.base + kPage + 64};
  StackMemory memory(own);
  memory.focus(island.base + 100);
  uint64_t value;
  cr_assert(memory.read(own.high - 8, &value));
  cr_assert(memory.read(own.high - 4, &value));
  cr_assert(memory.read(own.high, &value));
  cr_assert_not(memory.read(island.end() - 4, &value));
  cr_assert_not(memory.read(own.low - 4, &value));
}

Test(stack_memory, tiny_and_empty_stacks) {
  Island island;
  uint64_t value;
  for (uint64_t size : {0ul, 1ul, 7ul, 8ul, 9ul}) {
    StackMemory memory({island.end() - size, island.end()});
    memory.focus(island.end() - size);
    cr_assert_not(memory.read(island.end() - 7, &value));
    cr_assert(memory.read(island.end() - 8, &value));
  }
}

Test(stack_memory, more_pages_than_it_remembers) {
  constexpr uint64_t kPages = 32;
  auto* pages = static_cast<uint8_t*>(
      mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (uint64_t i = 0; i < kPages; i += 2) mprotect(pages + i * kPage, kPage, PROT_NONE);
  StackMemory memory({});
  uint64_t value;
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < kPages; ++i)
      cr_assert_eq(memory.read(reinterpret_cast<uint64_t>(pages) + i * kPage, &value), i % 2 == 1);
  }
}

Test(stack_memory, probing_changes_no_signal_mask) {
  Island island;
  sigset_t before, after;
  sigprocmask(SIG_SETMASK, nullptr, &before);
  StackMemory memory({});
  uint64_t value;
  cr_assert(memory.read(island.base, &value));
  cr_assert_not(memory.read(island.base - 8, &value));
  sigprocmask(SIG_SETMASK, nullptr, &after);
  for (int number = 1; number < 65; ++number)
    cr_assert_eq(sigismember(&before, number), sigismember(&after, number));
}

Test(code_bytes, calls) {
  const struct {
    uint8_t bytes[7];
    bool call;
  } cases[] = {
      {{0, 0, 0xe8, 1, 2, 3, 4}, true},        // call rel32
      {{0, 0, 0, 0, 0, 0xff, 0xd0}, true},     // call *%rax
      {{0, 0, 0, 0, 0x41, 0xff, 0xd3}, true},  // call *%r11
      {{0, 0, 0, 0, 0xff, 0x50, 0x10}, true},  // call *16(%rax)
      {{0, 0, 0, 0xff, 0x54, 0x24, 8}, true},  // call *8(%rsp)
      {{0, 0xff, 0x15, 1, 2, 3, 4}, true},     // call *x(%rip)
      {{0xff, 0x94, 0x24, 1, 2, 3, 4}, true},  // call *x(%rsp)
      {{0, 0, 0xe9, 1, 2, 3, 4}, false},       // jmp
      {{0, 0, 0, 0, 0, 0xff, 0xe0}, false},    // jmp *%rax
      {{0, 0, 0, 0, 0, 0, 0}, false},
  };
  for (const auto& test : cases)
    cr_assert_eq(ends_with_call(test.bytes), test.call, "case %td", &test - cases);
}
