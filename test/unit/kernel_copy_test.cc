// SPDX-License-Identifier: MIT
// Headers and unwind tables of a library that may be unloaded while they are read: the same rows as by
// reading in place, and an error where nothing is mapped any more. Context: tests.
#include "agent/signal/kernel_copy.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "agent/signal/elf_image.h"
#include "agent/signal/frame_lookup.h"
#include "agent/signal/loaded_object.h"
#include "agent/signal/unload_gate.h"

using namespace varve;
using namespace varve::agent;

namespace {

constexpr uint64_t kCopiedPage = 4096;
uint64_t moved_header = 0;  // what stands in for the object's .eh_frame_hdr; 0: its own

bool find_loaded(uint64_t pc, ObjectFrameInfo* info) {
  dl_find_object found{};
  if (!find_object(pc, found)) return false;
  *info = {moved_header ? moved_header : uint64_t(found.dlfo_eh_frame), true};
  return true;
}

/// A page whose neighbour above is not mapped.
uint8_t* last_page() {
  void* memory = mmap(nullptr, 2 * kCopiedPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  cr_assert_neq(memory, MAP_FAILED);
  auto* page = static_cast<uint8_t*>(memory);
  munmap(page + kCopiedPage, kCopiedPage);
  for (uint64_t i = 0; i < kCopiedPage; ++i) page[i] = uint8_t(i * 7 + i / 256);
  return page;
}

}  // namespace

Test(kernel_copy, copies_to_the_last_byte_and_no_further) {
  uint8_t* page = last_page();
  uint8_t copy[64];
  cr_assert(copy_by_kernel(uint64_t(page + kCopiedPage - 64), copy, 64));
  cr_assert_eq(std::memcmp(copy, page + kCopiedPage - 64, 64), 0);
  cr_assert_not(copy_by_kernel(uint64_t(page + kCopiedPage - 63), copy, 64));
  cr_assert_not(copy_by_kernel(~uint64_t{0} - 3, copy, 64));
  cr_assert_not(copy_by_kernel(0, copy, 1));
  munmap(page, kCopiedPage);
  cr_assert_not(copy_by_kernel(uint64_t(page), copy, 1));
}

Test(kernel_copy, a_cursor_reads_what_is_there_and_fails_at_the_rest) {
  uint8_t* page = last_page();
  KernelCopy bytes;
  cfi::Cursor in(bytes.span(uint64_t(page), uint64_t(page) + 2 * kCopiedPage));
  for (uint64_t i = 0; i < kCopiedPage; ++i) cr_assert_eq(in.read<uint8_t>(), page[i], "%lu", i);
  cr_assert(in.ok());
  cr_assert_eq(in.read<uint8_t>(), 0);
  cr_assert_not(in.ok());
  cfi::Cursor across(bytes.span(uint64_t(page) + kCopiedPage - 4, uint64_t(page) + 2 * kCopiedPage));
  across.read<uint64_t>();
  cr_assert_not(across.ok());
}

Test(kernel_copy, rows_are_those_read_in_place) {
  const auto begin = uint64_t(dlsym(RTLD_DEFAULT, "qsort_r"));
  for (uint64_t pc = begin; pc < begin + 600; ++pc) {
    const PackedRule in_place = find_rule(find_loaded, pc, true);
    const Unloading copying;
    cr_assert_eq(find_rule(find_loaded, pc, true).bits(), in_place.bits(), "pc + %lu", pc - begin);
    cr_assert_neq(int(in_place.form()), int(Form::kStop));
  }
}

Test(kernel_copy, tables_of_an_object_are_there_unless_stripped) {
  dl_find_object found{};
  cr_assert(find_object(uint64_t(dlsym(RTLD_DEFAULT, "qsort_r")), found));
  const auto has = [](uint64_t address) {
    KernelCopy bytes;
    return has_frame_tables(bytes, address);
  };
  cr_expect(has(uint64_t(found.dlfo_eh_frame)));
  // A header at the end of its page, whose table of one entry leads to an FDE behind it.
  uint8_t* page = last_page();
  struct {
    uint8_t version = 1, frames = 0xff, count = 0x03, table = 0x3b;
    uint32_t entries = 1;
    int32_t pc = -4096, fde = 0;
  } header;
  uint8_t* at = page + kCopiedPage - sizeof header;
  for (const int32_t fde : {int32_t(sizeof header), -int32_t(kCopiedPage), INT32_MAX}) {
    header.fde = fde;
    std::memcpy(at, &header, sizeof header);
    cr_expect_not(has(uint64_t(at)), "FDE %d bytes on", fde);
  }
  std::memset(page, 0, 64);  // as a linker fills what was stripped
  header.fde = int32_t(page - at);
  std::memcpy(at, &header, sizeof header);
  cr_expect_not(has(uint64_t(at)));
  cr_expect_not(has(uint64_t(page + kCopiedPage)), "the header itself is gone");
  header.entries = 0;
  std::memcpy(at, &header, sizeof header);
  cr_expect(has(uint64_t(at)), "nothing is read of an empty table");
}

Test(kernel_copy, tables_that_went_are_bad_not_a_crash) {
  uint8_t* page = last_page();
  munmap(page, kCopiedPage);
  const Unloading copying;
  moved_header = uint64_t(page);
  const PackedRule rule = find_rule(find_loaded, uint64_t(dlsym(RTLD_DEFAULT, "qsort_r")), true);
  cr_assert_eq(int(rule.form()), int(Form::kStop));
  cr_assert_eq(int(rule.stop_reason()), int(format::StackEnd::kBadCfi));
}

Test(kernel_copy, headers_of_a_module_that_went_are_none) {
  dl_find_object libc{};
  cr_assert(find_object(uint64_t(dlsym(RTLD_DEFAULT, "qsort_r")), libc));
  const auto base = uint64_t(libc.dlfo_map_start);
  const ProgramHeaders headers = mapped_program_headers(base, uint64_t(libc.dlfo_map_end) - base);
  ElfImage image;
  KernelCopy bytes;
  cr_assert(read_program_headers(headers, libc.dlfo_link_map->l_addr, bytes, image));
  cr_assert_eq(image.start, base);
  cr_assert_eq(image.end, uint64_t(libc.dlfo_map_end));
  cr_assert_eq(image.code_count, 1);
  cr_assert_eq(image.build_id_size, 20);  // a SHA-1, as GNU ld writes it

  uint8_t* page = last_page();
  munmap(page, kCopiedPage);
  cr_assert_eq(mapped_program_headers(uint64_t(page), kCopiedPage).count, 0);
  cr_assert_not(read_program_headers({uint64_t(page), 4}, 0, bytes, image));
}

Test(unload_gate, unloading_waits_for_readers_that_were_there) {
  UnloadGate gate;
  cr_assert(gate.enter());
  std::atomic<bool> closed{false};
  std::thread unloader([&] {
    gate.close(1'000'000);
    closed = true;
  });
  while (!gate.closed()) std::this_thread::yield();
  cr_assert_not(closed);
  cr_assert_not(gate.enter());  // who comes later sees it closed, and is not waited for
  cr_assert_not(closed);
  gate.leave();
  unloader.join();
  cr_assert(gate.closed());
  gate.open();
  cr_assert_not(gate.closed());
}

Test(unload_gate, unloading_goes_on_when_a_reader_never_ends) {
  UnloadGate gate;
  cr_assert(gate.enter());
  gate.close(10);
  cr_assert(gate.closed());
  gate.forget_readers();
  gate.open();
  gate.close();
  cr_assert(gate.closed());
}
