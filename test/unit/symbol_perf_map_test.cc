// SPDX-License-Identifier: MIT
// Maps of code made at run time: parsing, overlaps, and whose file is trusted. Context: tests.
#include <criterion/criterion.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>

#include "test/unit/symbol_tools.h"
#include "viewer/symbol/perf_map.h"
#include "viewer/symbol/resolver.h"

using namespace varve;
using namespace varve::test;

namespace {

std::string name_at(const symbol::PerfMap& map, uint64_t address) {
  const symbol::JitSymbol* found = map.find({address});
  return found ? std::string(found->name) : "-";
}

}  // namespace

Test(symbol_perf_map, lines_are_parsed_and_bad_ones_passed_over) {
  symbol::PerfMap map(
      "1000 10 first\n"
      "0x2000 0x20 with spaces in it \r\n"
      "\n"
      "zz 10 bad start\n"
      "3000 zz bad size\n"
      "3000 0 empty\n"
      "3000 10\n"
      "ffffffffffffffff 10 wraps\n"
      "11112222333344445555 10 too long\n"
      "  4000\t8\ttabs\n"
      "5000 10 no newline at the end");
  cr_expect_eq(map.size(), 4);
  cr_expect_eq(name_at(map, 0xfff), "-");
  cr_expect_eq(name_at(map, 0x1000), "first");
  cr_expect_eq(name_at(map, 0x100f), "first");
  cr_expect_eq(name_at(map, 0x1010), "-");
  cr_expect_eq(name_at(map, 0x201f), "with spaces in it");
  cr_expect_eq(name_at(map, 0x3000), "-");
  cr_expect_eq(name_at(map, 0x4007), "tabs");
  cr_expect_eq(name_at(map, 0x500f), "no newline at the end");
  cr_expect_eq(symbol::PerfMap("").size(), 0);
}

Test(symbol_perf_map, later_lines_win_where_they_overlap) {
  // As a naive map of every byte says, on random lines.
  std::mt19937 random(7);
  std::string text;
  std::vector<std::string> bytes(256, "-");
  for (int line = 0; line < 60; ++line) {
    unsigned start = random() % 200, size = 1 + random() % 50;
    char row[64];
    snprintf(row, sizeof row, "%x %x f%d\n", start, size, line);
    text += row;
    for (unsigned i = start; i < start + size && i < bytes.size(); ++i) bytes[i] = "f" + std::to_string(line);
  }
  symbol::PerfMap map(text);
  for (unsigned i = 0; i < bytes.size(); ++i) cr_expect_eq(name_at(map, i), bytes[i], "at %u", i);
}

Test(symbol_perf_map, only_plain_files_of_the_right_owner_are_read) {
  ScratchDirectory scratch;
  write_text(scratch.path("map"), "1000 10 f\n");
  auto map = symbol::read_perf_map(scratch.path("map"), geteuid());
  cr_assert(map.has_value());
  cr_expect_eq(name_at(*map, 0x1000), "f");
  cr_expect_eq(symlink("map", scratch.path("link").c_str()), 0);
  cr_expect_eq(mkfifo(scratch.path("fifo").c_str(), 0600), 0);
  for (const char* name : {"link", "fifo", "missing", "."}) {
    auto refused = symbol::read_perf_map(scratch.path(name), geteuid());
    cr_expect_not(refused.has_value(), "%s", name);
    cr_expect(refused.error().find("is not used: ") != std::string::npos, "%s", refused.error().c_str());
  }
  if (geteuid() == 0) cr_assert_eq(chown(scratch.path("map").c_str(), 12345, 12345), 0);
  auto foreign = symbol::read_perf_map(scratch.path("map"), geteuid() + 1);
  cr_expect_not(foreign.has_value());
  cr_expect(foreign.error().ends_with("it belongs to another user"), "%s", foreign.error().c_str());
}

Test(symbol_perf_map, anonymous_code_gets_the_names_kept_in_the_profile) {
  ScratchDirectory scratch;
  write_text(scratch.path("here-41.perfmap"), "7f0000001000 100 JS:*parse file:///srv/app.js:12:5\n");
  load::Profile profile;
  profile.directory = scratch.path();
  for (int pid : {41, 42, 41}) {
    load::Process process;
    process.host = "here";
    process.pid = pid;
    profile.modules.push_back({"[anonymous]", {}, true, ProcessId{uint32_t(profile.processes.size())}});
    profile.processes.push_back(process);
  }
  profile.sites = {{ModuleId{0}, {0x7f0000001010}},
                   {ModuleId{0}, {0x7f0000001200}},
                   {ModuleId{1}, {0x7f0000001010}},
                   {ModuleId{1}, {0x7f0000009010}},
                   {ModuleId{2}, {0x7f0000001020}}};
  symbol::SymbolTable table = symbol::resolve(profile);
  for (uint32_t site : {0, 4})  // of two images of one process
    cr_expect_eq(chain_of(table, site), "JS:*parse app.js:12\n", "%s", chain_of(table, site).c_str());
  cr_expect_eq(function_of(table, 1), "[unknown code]");
  cr_expect_eq(function_of(table, 2), "[unknown code]");
  cr_expect_eq(table.frames({2})[0].function, table.frames({3})[0].function);
  cr_expect_neq(table.frames({1})[0].function, table.frames({2})[0].function);
  cr_assert_eq(table.modules.size(), 3);
  for (const symbol::ModuleQuality& quality : table.modules)
    cr_expect_eq(quality.note.find("--perf-basic-prof") != std::string::npos, quality.module == ModuleId{1});
}
