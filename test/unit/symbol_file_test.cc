// SPDX-License-Identifier: MIT
// The symbols file: what is written is read back, and damage is a sentence, never a crash or a wrong name.
// Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "common/symbol_format.h"
#include "test/unit/profile_builder.h"
#include "test/unit/symbol_tools.h"
#include "viewer/symbol/resolver.h"
#include "viewer/symbol/symbol_file.h"
#include "viewer/symbol/symbols_for.h"

using namespace varve;
using namespace varve::test;

namespace {

constexpr load::SessionId kSession{1, 2, 3};

/// Two files, anonymous code of a process, a special site and one without a name.
load::Profile profile_with_symbols(const std::string& directory) {
  load::Profile profile;
  profile.directory = directory;
  load::Process process;
  process.host = "host";
  process.pid = 7;
  process.image = 1;
  profile.processes.push_back(process);
  profile.modules = {{"/gone/liba.so", {1, 2, 3}, false, {}},
                     {"/gone/b", {}, false, {}},
                     {"[anonymous]", {}, true, ProcessId{0}}};
  profile.sites = {{ModuleId{1}, {0x500}},
                   {ModuleId{0}, {0x2000}},
                   {ModuleId::none(), {uint64_t(load::SpecialSite::kResidual)}},
                   {ModuleId{0}, {0x1000}},
                   {ModuleId{2}, {0x7f0000000000}}};
  return profile;
}

symbol::SymbolTable table_of_profile(const load::Profile& profile) {
  symbol::SymbolTable table;
  auto text = [&](std::string_view value) { return table.strings.intern(value); };
  auto add = [&](std::string_view name, ModuleId module, uint64_t low, symbol::NameSource source) {
    table.functions.push_back(
        {text(name), text("short"), text("_Zlinkage"), module, text("/src/a.cc"), 12, {low}, 64, source});
  };
  add("a::push(int)", {0}, 0x1000, symbol::NameSource::kDwarf);
  add("line\nbreak and NUL" + std::string(1, '\0'), {0}, 0, symbol::NameSource::kDwarf);
  add("b+0x500", {1}, 0x500, symbol::NameSource::kAddress);
  add("JS:*f", {2}, 0x7f0000000000, symbol::NameSource::kJit);
  add("[residual]", ModuleId::none(), 0, symbol::NameSource::kSpecial);
  std::vector<std::vector<symbol::Frame>> frames{
      {{{2}, text(""), 0, false}},
      {{{1}, text("/src/b.h"), 3, true}, {{0}, text("/src/a.cc"), 17, false}},
      {{{4}, text(""), 0, false}},
      {{{0}, text("/src/a.cc"), 13, false}},
      {{{3}, text("/app.js"), 5, false}}};
  table.site_first.push_back(0);
  for (auto& site : frames) {
    table.frame_rows.insert(table.frame_rows.end(), site.begin(), site.end());
    table.site_first.push_back(uint32_t(table.frame_rows.size()));
  }
  table.modules = {{{0}, true, true, ""}, {{1}, false, false, "the file is gone"}};
  cr_assert_eq(profile.sites.size() + 1, table.site_first.size());
  return table;
}

/// Everything a report can see of a site.
std::string all_of(const symbol::SymbolTable& table, uint32_t site) {
  std::string out;
  for (const symbol::Frame& frame : table.frames({site})) {
    const symbol::Function& f = table.functions[frame.function.index()];
    auto text = [&](StringId id) { return table.strings.text(id); };
    out += fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}\n", text(f.name), text(f.short_name),
                       text(f.linkage_name), f.module.value, text(f.file), f.line, f.low.value, f.size,
                       int(f.source), text(frame.file), frame.line, frame.inlined);
  }
  return out;
}

bool equal(const symbol::SymbolTable& a, const symbol::SymbolTable& b) {
  if (a.site_first != b.site_first) return false;
  for (uint32_t site = 0; site + 1 < a.site_first.size(); ++site)
    if (all_of(a, site) != all_of(b, site)) return false;
  return true;
}

}  // namespace

Test(symbol_file, what_is_written_is_read_back) {
  load::Profile profile = profile_with_symbols("");
  symbol::SymbolTable table = table_of_profile(profile);
  auto read = symbol::decode_symbols(symbol::encode_symbols(profile, table, kSession), profile, kSession);
  cr_assert(read.has_value(), "%s", read.error().c_str());
  for (uint32_t site : {0, 1, 3, 4}) {
    cr_expect_not(read->missing[site]);
    cr_expect_eq(all_of(read->table, site), all_of(table, site), "site %u", site);
  }
  cr_expect(read->missing[2], "special sites are not in the file");
  cr_assert_eq(read->table.modules.size(), 2);
  cr_expect_eq(read->table.modules[1].note, "the file is gone");
  cr_expect(read->table.modules[0].has_symtab && read->table.modules[0].has_dwarf &&
            !read->table.modules[1].has_symtab);
}

Test(symbol_file, sites_are_found_by_module_and_address_not_by_row) {
  load::Profile profile = profile_with_symbols("");
  symbol::SymbolTable table = table_of_profile(profile);
  std::vector<uint8_t> bytes = symbol::encode_symbols(profile, table, kSession);
  load::Profile other = profile;
  std::swap(other.modules[0], other.modules[1]);
  other.modules.push_back({"/gone/liba.so", {9, 9}, false, {}});  // another build
  other.sites = {
      {ModuleId{3}, {0x1000}}, {ModuleId{1}, {0x1000}}, {ModuleId{0}, {0x500}}, {ModuleId{0}, {0x501}}};
  auto read = symbol::decode_symbols(bytes, other, kSession);
  cr_assert(read.has_value());
  cr_expect_eq(read->missing, (std::vector<bool>{true, false, false, true}));
  cr_expect_eq(function_of(read->table, 1), "a::push(int)");
  cr_expect_eq(read->table.functions[read->table.frames({1})[0].function.index()].module.value, 1);
  other.processes[0].image = 2;
  other.sites = {{ModuleId{2}, {0x7f0000000000}}};
  cr_expect(symbol::decode_symbols(bytes, other, kSession)->missing[0],
            "code of another image of the process");
}

Test(symbol_file, cut_at_any_length_it_is_a_sentence) {
  load::Profile profile = profile_with_symbols("");
  std::vector<uint8_t> bytes = symbol::encode_symbols(profile, table_of_profile(profile), kSession);
  size_t readable = 0;
  for (size_t length = 0; length < bytes.size(); length += length < 1000 ? 1 : 3) {
    auto read = symbol::decode_symbols(std::span(bytes).first(length), profile, kSession);
    readable += read.has_value();
    if (!read) cr_expect_not(read.error().empty());
  }
  cr_expect_eq(readable, 0);
}

/// Rows may all have one text, which would be compared with itself again and again.
Test(symbol_file, a_module_with_a_path_longer_than_a_record_holds_is_refused) {
  for (const size_t length : {65'000, 70'000}) {
    load::Profile profile = profile_with_symbols("");
    profile.modules[0].path.assign(length, 'x');
    const std::vector<uint8_t> bytes = symbol::encode_symbols(profile, table_of_profile(profile), kSession);
    cr_expect_eq(symbol::decode_symbols(bytes, profile, kSession).has_value(), length < 65'536, "%zu",
                 length);
  }
}

Test(symbol_file, every_changed_byte_is_noticed_or_harmless) {
  load::Profile profile = profile_with_symbols("");
  symbol::SymbolTable table = table_of_profile(profile);
  std::vector<uint8_t> bytes = symbol::encode_symbols(profile, table, kSession);
  auto whole = symbol::decode_symbols(bytes, profile, kSession);
  size_t noticed = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= 0x41;
    auto read = symbol::decode_symbols(bytes, profile, kSession);
    noticed += !read;
    if (read)
      cr_expect(
          equal(read->table, whole->table) || read->table.frame_rows.size() < whole->table.frame_rows.size(),
          "byte %zu", i);
    bytes[i] ^= 0x41;
  }
  cr_expect_gt(noticed, 300);
}

Test(symbol_file, numbers_that_lie_are_refused) {
  load::Profile profile = profile_with_symbols("");
  std::vector<uint8_t> good = symbol::encode_symbols(profile, table_of_profile(profile), kSession);
  // Every 32-bit word of every chunk set to a large number, with the checksum made right again.
  size_t refused = 0, tried = 0;
  for (size_t chunk = format::kPageSize; chunk < good.size();) {
    format::ChunkHeader header;
    std::memcpy(&header, good.data() + chunk, sizeof header);
    for (size_t at = 0; at + 4 <= header.used; at += 4) {
      std::vector<uint8_t> bytes = good;
      uint32_t large = 0x7fffffff;
      std::memcpy(bytes.data() + chunk + sizeof header + at, &large, sizeof large);
      seal_chunk(bytes, chunk);
      ++tried;
      refused += !symbol::decode_symbols(bytes, profile, kSession).has_value();
    }
    chunk += header.capacity;
  }
  cr_expect_gt(refused, 50);
  cr_expect_lt(refused, tried);
}

Test(symbol_file, of_another_run_or_version_is_not_used) {
  load::Profile profile = profile_with_symbols("");
  std::vector<uint8_t> good = symbol::encode_symbols(profile, table_of_profile(profile), kSession);
  auto error_with = [&](auto change) {
    std::vector<uint8_t> bytes = good;
    format::FileHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    change(header);
    header.checksum = format::header_checksum(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    auto read = symbol::decode_symbols(bytes, profile, kSession);
    return read ? std::string() : read.error();
  };
  cr_expect_eq(error_with([](auto& h) { h.session_id[0] ^= 1; }), "belongs to another run");
  cr_expect_eq(error_with([](auto& h) { ++h.major; }), "is of another version of the format");
  cr_expect_eq(error_with([](auto& h) { h.kind = 2; }), "is no symbols file");
  cr_expect_eq(error_with([](auto& h) { h.byte_order = 0x0201; }),
               "is of a machine with the other byte order");
  cr_expect_eq(error_with([](auto& h) { h.minor = 9; }), "");
}

Test(symbol_file, on_disk_it_replaces_the_old_one_whole) {
  ScratchDirectory scratch;
  load::Profile profile = profile_with_symbols(scratch.path());
  symbol::SymbolTable table = table_of_profile(profile);
  auto none = symbol::read_symbol_file(profile);
  cr_assert(none.has_value());
  cr_expect_eq(none->missing, std::vector<bool>(5, true));
  write_text(scratch.path("symbols"), "old");
  cr_expect_not(symbol::read_symbol_file(profile).has_value());
  cr_assert(symbol::write_symbol_file(profile, table).has_value());
  cr_assert(symbol::read_symbol_file(profile).has_value());
  size_t files = 0;
  for ([[maybe_unused]] auto& entry : std::filesystem::directory_iterator(scratch.path())) ++files;
  cr_expect_eq(files, 1);
  profile.directory = scratch.path("nowhere");
  auto failed = symbol::write_symbol_file(profile, table);
  cr_assert_not(failed.has_value());
  cr_expect(failed.error().find("nowhere/symbols cannot be written: ") != std::string::npos, "%s",
            failed.error().c_str());
}

Test(symbol_file, a_report_uses_it_and_resolves_only_what_it_lacks) {
  ScratchDirectory scratch;
  load::Profile profile = profile_with_symbols(scratch.path());
  symbol::SymbolTable table = table_of_profile(profile);
  cr_assert(symbol::write_symbol_file(profile, table).has_value());
  profile.sites.push_back({ModuleId{0}, {0x9000}});
  symbol::FoundSymbols found = symbol::symbols_for(profile);
  symbol::SymbolTable& merged = found.table;
  cr_expect(found.looked_up);
  cr_expect(found.trouble.empty(), "%s", found.trouble.c_str());
  for (uint32_t site : {0, 1, 3, 4}) cr_expect_eq(all_of(merged, site), all_of(table, site));
  cr_expect_eq(function_of(merged, 2), "[residual]");
  cr_expect_eq(function_of(merged, 5), "liba.so+0x0", "%s", function_of(merged, 5).c_str());
  write_text(scratch.path("symbols"), "damaged");
  found = symbol::symbols_for(profile);
  cr_expect(
      found.trouble.find("symbols ends inside a record, so names are looked up anew") != std::string::npos,
      "%s", found.trouble.c_str());
  cr_expect_eq(function_of(merged, 2), "[residual]");
}

Test(symbol_file, a_stored_table_is_the_resolved_one) {
  ScratchDirectory scratch;
  std::string self = std::filesystem::read_symlink("/proc/self/exe");
  uint64_t start = address_of(self, "_ZN5varve6symbol8demangleESt17basic_string_viewIcSt11char_traitsIcEE");
  std::vector<uint64_t> vaddrs;
  for (uint64_t i = 0; i < 40; ++i) vaddrs.push_back(start + i);
  load::Profile profile = profile_of(self, vaddrs, scratch.path());
  profile.sites.push_back({ModuleId::none(), {uint64_t(load::SpecialSite::kStartUp)}});
  symbol::SymbolTable table = symbol::resolve(profile);
  cr_assert(symbol::write_symbol_file(profile, table).has_value());
  profile.modules[0].path = self;
  const symbol::FoundSymbols found = symbol::symbols_for(profile);
  cr_expect_not(found.looked_up);
  cr_expect(equal(found.table, table));
  symbol::ResolveOptions one_thread;
  one_thread.threads = 1;
  cr_expect(equal(symbol::resolve(profile, one_thread), table));
}
