// SPDX-License-Identifier: MIT
// Lines of /proc/self/maps, a character at a time, and the map of this very process.
// Context: tests.
#include <criterion/criterion.h>
#include <sys/stat.h>

#include <string_view>
#include <vector>

#include "agent/signal/memory_map.h"

using namespace varve::agent;

namespace {

std::vector<MappedRange> parsed_map(std::string_view text) {
  std::vector<MappedRange> lines;
  MapsParser parser;
  for (char c : text)
    if (parser.feed(c)) lines.push_back(parser.line());
  return lines;
}

}  // namespace

Test(memory_map, lines_with_and_without_a_file) {
  const auto lines = parsed_map(
      "00b72000-025fe000 r-xp 00772000 fe:00 247823                             /usr/bin/node\n"
      "7f337f7c3000-7f337f7ff000 rwxp 00000000 00:00 0 \n"
      "7f3380000000-7f3380001000 r--p 000a0000 103:0f 18446744073709551615 /a b/x-c:d (deleted)\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n");
  cr_assert_eq(lines.size(), 4);
  cr_expect_eq(lines[0].range.begin, 0xb72000);
  cr_expect_eq(lines[0].range.end, 0x25fe000);
  cr_expect_eq(lines[0].offset, 0x772000);
  cr_expect_eq(lines[0].device, uint64_t(0xfe) << 32);
  cr_expect_eq(lines[0].inode, 247823);
  cr_expect(lines[0].executable);
  cr_expect_eq(lines[1].inode, 0);
  cr_expect(lines[1].executable);
  cr_expect_eq(lines[2].device, uint64_t(0x103) << 32 | 0xf);
  cr_expect_eq(lines[2].inode, UINT64_MAX);
  cr_expect_not(lines[2].executable);
  cr_expect_not(lines[2].same_file(lines[0]));
  cr_expect_eq(lines[3].range.end, 0xffffffffff601000);
}

Test(memory_map, a_line_that_ends_early_is_still_one_line) {
  cr_expect_eq(parsed_map("1000-2000 r-xp 0 0:0 77\n1000\n\n").size(), 3);
  cr_expect_eq(parsed_map("1000-2000 r-xp 0 0:0 77\n")[0].inode, 77);
}

Test(memory_map, this_process_with_a_buffer_of_any_size) {
  struct stat self;
  cr_assert_eq(stat("/proc/self/exe", &self), 0);
  for (size_t size : {1, 7, 4096}) {
    std::vector<char> buffer(size);
    bool found = false;
    each_mapping(buffer, [&](const MappedRange& mapped) {
      if (mapped.range.contains(uint64_t(&parsed_map)))
        found = mapped.executable && mapped.inode == self.st_ino;
    });
    cr_expect(found, "buffer of %zu", size);
  }
}
