// SPDX-License-Identifier: MIT
// Where symbols come from: stripped files, debug files, MiniDebugInfo, PLT stubs, the vDSO, and files that
// are not the ones that ran. The binaries are made here. Context: tests.
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/auxv.h>

#include <algorithm>
#include <filesystem>

#include "test/unit/symbol_tools.h"
#include "viewer/symbol/elf_file.h"
#include "viewer/symbol/elf_symbols.h"
#include "viewer/symbol/module_file.h"
#include "viewer/symbol/resolver.h"
#include "viewer/symbol/special_sites.h"
#include "viewer/symbol/symbol_file.h"
#include "viewer/symbol/symbols_for.h"

using namespace varve;
using namespace varve::test;

namespace {

constexpr const char* kModuleProgram = R"(
#include <cstdlib>
#include <cstring>
__attribute__((noinline)) static long quiet(long n) { return n * 3 + std::labs(n); }
__attribute__((noinline)) long loud(long n) { return quiet(n) ^ (n << 3); }
int main(int argc, char** argv) {
  return (int)(loud(argc) + std::strtol(argv[0], nullptr, 10)) + (std::getenv("X") != nullptr);
}
)";

struct Built {
  ScratchDirectory scratch;
  std::string program = scratch.path("prog");
  uint64_t loud = 0, quiet = 0;

  explicit Built(const std::string& flags = "") {
    write_text(scratch.path("prog.cc"), kModuleProgram);
    shell(fmt::format("cd '{}' && g++ -O2 -g {} -o prog prog.cc", scratch.path(), flags));
    loud = address_of(program, "_Z4loudl");
    quiet = address_of(program, "_ZL5quietl");
  }
  void run(const std::string& command) { shell(fmt::format("cd '{}' && {}", scratch.path(), command)); }
};

symbol::ResolveOptions only(const std::string& directory) {
  symbol::ResolveOptions options;
  options.debug_directories = {directory};
  return options;
}

const symbol::Function& outermost(const symbol::SymbolTable& table, uint32_t site) {
  return table.functions[table.frames({site}).back().function.index()];
}

}  // namespace

Test(symbol_modules, a_stripped_file_folds_by_its_unwind_entries) {
  Built built;
  built.run("strip -s prog");
  std::vector<uint64_t> vaddrs{built.loud, built.loud + 1, built.loud + 2, built.quiet, built.quiet + 3};
  auto table =
      symbol::resolve(profile_of(built.program, vaddrs, built.scratch.path()), only(built.scratch.path()));
  cr_expect_eq(function_of(table, 0), fmt::format("prog+0x{:x}", built.loud));
  cr_expect_eq(table.frames({0})[0].function, table.frames({2})[0].function);
  cr_expect_eq(function_of(table, 4), fmt::format("prog+0x{:x}", built.quiet));
  cr_expect_eq(outermost(table, 0).low.value, built.loud);
  cr_expect_gt(outermost(table, 0).size, 4);
  cr_assert_eq(table.modules.size(), 1);
  cr_expect_not(table.modules[0].has_symtab);
  cr_expect(table.modules[0].note.starts_with("no symbols"), "%s", table.modules[0].note.c_str());
}

Test(symbol_modules, debug_links_and_build_id_directories_are_followed) {
  for (const char* place : {"prog.debug", ".debug/prog.debug", "by-id"}) {
    Built built;
    std::vector<uint64_t> vaddrs{built.loud, built.quiet};
    std::string id = symbol::hex(symbol::ElfFile::open(built.program)->build_id());
    std::string by_id = fmt::format("debug/.build-id/{}", id.substr(0, 2));
    bool link = std::string(place) != "by-id";
    built.run("objcopy --only-keep-debug prog prog.debug && strip -s prog");
    if (link) built.run("objcopy --add-gnu-debuglink=prog.debug prog");
    if (std::string(place).starts_with(".debug")) built.run("mkdir .debug && mv prog.debug .debug/");
    if (!link) built.run(fmt::format("mkdir -p {0} && mv prog.debug {0}/{1}.debug", by_id, id.substr(2)));
    auto table = symbol::resolve(profile_of(built.program, vaddrs, built.scratch.path()),
                                 only(built.scratch.path("debug")));
    cr_expect_eq(function_of(table, 0), "loud(long)", "%s: %s", place, function_of(table, 0).c_str());
    cr_expect_eq(function_of(table, 1), "quiet(long)", "%s: %s", place, function_of(table, 1).c_str());
    cr_expect_eq(table.frames({0}).back().line, 5, "%s", place);
    cr_expect(table.modules[0].has_symtab && table.modules[0].has_dwarf && table.modules[0].note.empty());
    if (link) continue;
    std::filesystem::remove(built.program);
    load::Profile gone = profile_of(built.program, vaddrs, built.scratch.path());
    for (size_t i = 0; i < id.size(); i += 2)
      gone.modules[0].build_id.push_back(uint8_t(std::stoul(id.substr(i, 2), nullptr, 16)));
    cr_expect_eq(function_of(symbol::resolve(gone, only(built.scratch.path("debug"))), 0), "loud(long)");
  }
}

Test(symbol_modules, a_debug_file_of_another_build_is_not_used) {
  for (const char* flags : {"", "-Wl,--build-id=none"}) {
    Built built(flags);
    built.run(
        "objcopy --only-keep-debug prog prog.debug && strip -s prog && objcopy "
        "--add-gnu-debuglink=prog.debug prog");
    std::vector<uint64_t> vaddrs{built.loud};
    load::Profile profile = profile_of(built.program, vaddrs, built.scratch.path());
    cr_expect_eq(function_of(symbol::resolve(profile, only("/nowhere")), 0), "loud(long)", "%s", flags);
    built.run(
        fmt::format("sed -i s/loud/proud/g prog.cc && g++ -O2 -g {} -o other prog.cc && objcopy "
                    "--only-keep-debug other prog.debug",
                    flags));
    cr_expect_eq(function_of(symbol::resolve(profile, only("/nowhere")), 0),
                 fmt::format("prog+0x{:x}", built.loud), "%s", flags);
  }
}

Test(symbol_modules, mini_debug_info_names_what_the_dynamic_table_lacks) {
  Built built("-rdynamic");
  built.run(
      "nm prog --format=posix --defined-only | awk '$2 == \"t\" || $2 == \"T\" {print $1}' > keep && "
      "objcopy -S --remove-section .gnu_debuglink --keep-symbols=keep prog mini 2>/dev/null && "
      "objcopy --only-keep-debug mini && xz mini && strip -s prog && objcopy --add-section "
      ".gnu_debugdata=mini.xz prog");
  std::vector<uint64_t> vaddrs{built.loud, built.quiet};
  auto table = symbol::resolve(profile_of(built.program, vaddrs, built.scratch.path()), only("/nowhere"));
  cr_expect_eq(function_of(table, 0), "loud(long)");
  cr_expect_eq(function_of(table, 1), "quiet(long)", "%s", function_of(table, 1).c_str());
  cr_expect(table.modules[0].has_symtab && !table.modules[0].has_dwarf);
  // What does not decode is no error.
  built.run("head -c 300 /dev/zero > zero && objcopy --update-section .gnu_debugdata=zero prog");
  table = symbol::resolve(profile_of(built.program, vaddrs, built.scratch.path()), only("/nowhere"));
  cr_expect_eq(function_of(table, 0), "loud(long)");
  cr_expect_eq(function_of(table, 1), fmt::format("prog+0x{:x}", built.quiet));
}

Test(symbol_modules, a_decompression_bomb_is_left_packed) {
  Built built;
  built.run(
      "head -c 300000000 /dev/zero | xz -0 > bomb.xz && strip -s prog && objcopy --add-section "
      ".gnu_debugdata=bomb.xz prog");
  auto file = symbol::ElfFile::open(built.program);
  cr_expect_not(symbol::mini_debug_info(*file).has_value());
}

Test(symbol_modules, a_file_that_changed_is_not_used) {
  Built built;
  load::Profile profile =
      profile_of(built.program, {built.loud, built.loud + 1, built.quiet}, built.scratch.path());
  profile.modules[0].build_id[0] ^= 1;
  load::Mapping mapping;
  mapping.module = {0};
  mapping.bias = 0x555500000000;
  mapping.code = {{{0x555500001000}, {0x555500002000}}};
  profile.mappings.push_back(mapping);
  auto table = symbol::resolve(profile, only("/nowhere"));
  for (uint32_t site : {0, 1, 2})
    cr_expect_eq(function_of(table, site), "prog+0x1000", "%s", function_of(table, site).c_str());
  cr_expect(table.modules[0].note.find("changed since the recording") != std::string::npos);
  profile.modules[0].path = "/nowhere/at/all.so";
  table = symbol::resolve(profile, only("/nowhere"));
  cr_expect_eq(function_of(table, 0), "all.so+0x1000");
  cr_expect_eq(table.modules[0].note, "the file cannot be opened: No such file or directory");
}

Test(symbol_modules, without_a_build_id_a_newer_file_is_not_used) {
  Built built("-Wl,--build-id=none");
  load::Profile profile = profile_of(built.program, {built.loud}, built.scratch.path());
  cr_assert(profile.modules[0].build_id.empty());
  const Nanos changed = symbol::ElfFile::open(built.program)->modified();
  constexpr uint64_t kRunBefore = 5'000'000'000;  // the run had lasted as long when a process began
  profile.session.start_time = {kNanosPerSecond.count};
  load::Mapping mapping;
  mapping.module = {0};
  mapping.load_time = {kNanosPerSecond.count + kRunBefore};
  profile.mappings.push_back(mapping);
  profile.session.start_realtime = {changed.count - kRunBefore};
  cr_expect_eq(function_of(symbol::resolve(profile, only("/nowhere")), 0), "loud(long)", "built by the run");
  profile.session.start_realtime.count -= 1;
  const symbol::SymbolTable table = symbol::resolve(profile, only("/nowhere"));
  cr_expect_eq(function_of(table, 0), "prog+0x0", "%s", function_of(table, 0).c_str());
  cr_expect(table.modules[0].note.find("has no build id") != std::string::npos, "%s",
            table.modules[0].note.c_str());
}

Test(symbol_modules, a_sysroot_is_put_before_every_path) {
  Built built;
  load::Profile profile = profile_of(built.program, {built.loud}, built.scratch.path());
  std::filesystem::create_directories(built.scratch.path("root/usr/bin"));
  built.run("mv prog root/usr/bin/");
  profile.modules[0].path = "/usr/bin/prog";
  symbol::ResolveOptions options;
  options.sysroot = built.scratch.path("root");
  cr_expect_eq(function_of(symbol::resolve(profile, options), 0), "loud(long)");
  cr_assert(symbol::write_symbol_file(profile, symbol::resolve(profile)));
  cr_expect_eq(function_of(symbol::symbols_for(profile).table, 0), "prog+0x0");
  cr_expect_eq(function_of(symbol::symbols_for(profile, options).table, 0), "loud(long)", "finished before");
}

Test(symbol_modules, what_a_finished_profile_lacks_is_looked_up_where_the_options_say) {
  for (const char* strip : {"strip -s", "strip -g"}) {
    Built built;
    const std::string id = symbol::hex(symbol::ElfFile::open(built.program)->build_id());
    const std::string place = fmt::format("dbg/.build-id/{}", id.substr(0, 2));
    built.run(fmt::format("mkdir -p {0} && objcopy --only-keep-debug prog {0}/{1}.debug && {2} prog", place,
                          id.substr(2), strip));
    load::Profile profile = profile_of(built.program, {built.loud, built.quiet}, built.scratch.path());
    cr_assert(symbol::write_symbol_file(profile, symbol::resolve(profile, only("/nowhere"))));
    const symbol::FoundSymbols plain = symbol::symbols_for(profile);
    const bool nameless = std::string(strip) == "strip -s";
    cr_expect_not(plain.looked_up);
    cr_expect_eq(function_of(plain.table, 0),
                 nameless ? fmt::format("prog+0x{:x}", built.loud) : "loud(long)");
    cr_expect_eq(plain.table.frames({0}).back().line, 0);

    symbol::ResolveOptions options = only(built.scratch.path("dbg"));
    const symbol::FoundSymbols better = symbol::symbols_for(profile, options);
    cr_expect_eq(function_of(better.table, 0), "loud(long)", "%s", strip);
    cr_expect_eq(better.table.frames({0}).back().line, 5, "%s", strip);
    cr_expect_eq(better.table.functions.size(), 2, "those that were replaced are gone");
    cr_assert_eq(better.table.modules.size(), 1);
    cr_expect(better.table.modules[0].has_symtab && better.table.modules[0].has_dwarf);
    cr_expect(better.table.modules[0].note.empty(), "%s", better.table.modules[0].note.c_str());

    options.lines = false;
    const symbol::FoundSymbols quick = symbol::symbols_for(profile, options);
    cr_expect_eq(quick.looked_up, nameless);
    cr_expect_eq(function_of(quick.table, 0), "loud(long)", "%s", strip);

    const symbol::FoundSymbols nothing = symbol::symbols_for(profile, only(built.scratch.path("none")));
    cr_expect_eq(function_of(nothing.table, 1), function_of(plain.table, 1), "%s", strip);
  }
}

Test(symbol_modules, plt_stubs_have_the_name_of_their_target) {
  for (const char* flags : {"", "-Wl,-z,now", "-fcf-protection=none", "-fcf-protection=none -no-pie",
                            "-Wl,-z,ibtplt", "-fno-plt"}) {
    Built built(flags);
    auto file = symbol::ElfFile::open(built.program);
    std::vector<uint64_t> vaddrs;
    for (const symbol::Section& section : file->sections())
      if (section.name.starts_with(".plt") && section.executable())
        for (uint64_t at = section.vaddr; at < section.end(); at += 4) vaddrs.push_back(at);
    if (vaddrs.empty()) continue;
    auto table = symbol::resolve(profile_of(built.program, vaddrs, built.scratch.path()));
    bool strtol_found = false;
    for (uint32_t i = 0; i < vaddrs.size(); ++i) {
      std::string name = function_of(table, i);
      cr_expect(name.ends_with("@plt") || name.starts_with(".plt"), "%s: %#lx is %s", flags, vaddrs[i],
                name.c_str());
      strtol_found |= name == "strtol@plt";
      if (name == "strtol@plt") cr_expect_eq(outermost(table, i).source, symbol::NameSource::kPlt);
    }
    cr_expect_eq(strtol_found, std::string(flags) != "-fno-plt", "%s", flags);
  }
}

Test(symbol_modules, the_vdso_is_read_from_memory_if_it_is_the_same) {
  ScratchDirectory scratch;
  auto base = getauxval(AT_SYSINFO_EHDR);
  if (!base) cr_skip_test("there is no vDSO here");
  void* vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* function = vdso ? dlsym(vdso, "__vdso_clock_gettime") : nullptr;
  cr_assert(function != nullptr);
  const auto* bytes = reinterpret_cast<const uint8_t*>(base);
  auto image = symbol::ElfFile::from_memory({bytes, bytes + 4096 * 2});
  cr_assert(image.has_value(), "%s", image.error().c_str());
  load::Profile profile;
  profile.directory = scratch.path();
  profile.modules.push_back({"[vdso]", image->build_id(), false, {}});
  profile.sites.push_back({ModuleId{0}, {reinterpret_cast<uint64_t>(function) - base}});
  auto table = symbol::resolve(profile);
  cr_expect_eq(function_of(table, 0), "__vdso_clock_gettime", "%s", function_of(table, 0).c_str());
  cr_expect_eq(outermost(table, 0).source, symbol::NameSource::kVdso);
  profile.modules[0].build_id.push_back(0);
  table = symbol::resolve(profile);
  cr_expect(function_of(table, 0).starts_with("[vdso]+0x"), "%s", function_of(table, 0).c_str());
  cr_expect_not(table.modules[0].note.empty());
}

Test(symbol_modules, aliases_are_chosen_by_what_a_reader_expects) {
  auto better = [](const char* a, uint8_t binding_a, const char* b, uint8_t binding_b) {
    return symbol::better_alias({0, 4, a, binding_a, true}, {0, 4, b, binding_b, true});
  };
  cr_expect(better("malloc", STB_GLOBAL, "__libc_malloc", STB_GLOBAL));
  cr_expect(better("write", STB_WEAK, "__write", STB_GLOBAL));
  cr_expect(better("strtol", STB_WEAK, "strtoll", STB_WEAK));
  cr_expect(better("open", STB_WEAK, "open64", STB_WEAK));
  cr_expect(better("_ZN1AC1Ev", STB_GLOBAL, "_ZN1AC2Ev", STB_GLOBAL));
  cr_expect(better("global", STB_GLOBAL, "file", STB_LOCAL));
  cr_expect(symbol::better_alias({0, 4, "label", STB_LOCAL, true}, {0, 0, "a", STB_GLOBAL, false}));
}

Test(symbol_modules, nested_and_unsized_symbols_have_their_places) {
  ScratchDirectory scratch;
  write_text(scratch.path("a.s"), R"(
  .text
  .globl first, sized, inner
first:            # no size: up to the next
  .fill 16, 1, 0x90
  .type sized, @function
sized:
  .fill 16, 1, 0x90
  .type inner, @function
inner:
  .fill 8, 1, 0x90
  .size inner, 8
label:            # inside a function: no function
  .fill 8, 1, 0x90
  .size sized, 32
last:
  .fill 32, 1, 0x90
)");
  std::string library = scratch.path("a.so");
  shell(fmt::format("gcc -shared -nostdlib -o '{}' '{}'", library, scratch.path("a.s")));
  uint64_t base = address_of(library, "first");
  std::vector<std::pair<uint64_t, std::string>> wanted{{0, "first"},  {15, "first"}, {16, "sized"},
                                                       {32, "inner"}, {39, "inner"}, {40, "sized"},
                                                       {47, "sized"}, {48, "last"},  {79, "last"}};
  std::vector<uint64_t> vaddrs;
  for (auto& [offset, name] : wanted) vaddrs.push_back(base + offset);
  auto table = symbol::resolve(profile_of(library, vaddrs, scratch.path()));
  for (uint32_t i = 0; i < wanted.size(); ++i)
    cr_expect_eq(function_of(table, i), wanted[i].second, "+%lu is %s", wanted[i].first,
                 function_of(table, i).c_str());
  cr_expect_eq(table.frames({2})[0].function, table.frames({6})[0].function);
  cr_expect_eq(outermost(table, 6).size, 32);
}

Test(symbol_modules, code_maps_keep_what_was_first) {
  symbol::CodeMap map;
  auto range = [](uint64_t start, uint64_t end, std::string_view name) {
    return symbol::CodeRange{start, end, start, end - start, name, symbol::NameSource::kSymbolTable};
  };
  std::vector<symbol::CodeRange> first{range(10, 20, "a"), range(40, 50, "b")},
      second{range(0, 15, "c"), range(18, 60, "d")};
  map.add(first);
  map.add(second);
  std::string names;
  for (uint64_t i = 0; i < 64; i += 4) {
    const symbol::CodeRange* found = map.find({i});
    names += found ? found->name : std::string_view("-");
  }
  cr_expect_eq(names, "cccaadddddbbbdd-", "%s", names.c_str());
  cr_expect_eq(map.end_before({61}), 60);
  cr_expect_eq(map.end_before({0}), 0);
}

Test(symbol_modules, points_in_names_are_no_clones) {
  ScratchDirectory scratch;
  write_text(scratch.path("a.c"),
             "__attribute__((noinline)) long main_hot(long n) { return n * 3; }\n"
             "int main(int n, char** v) { return (int)main_hot(n) + (v == 0); }\n");
  // As Go has it: the debug information has the name of the symbol, with the package.
  shell(fmt::format(
      "cd '{}' && gcc -O2 -g -S a.c && sed -i s/main_hot/main.hot/g a.s && gcc -o a a.s && objcopy "
      "--redefine-sym main.hot=main.hot.isra.0 a clone",
      scratch.path()));
  const uint64_t hot = address_of(scratch.path("a"), "main.hot");
  for (const char* file : {"a", "clone"}) {
    const auto table = symbol::resolve(profile_of(scratch.path(file), {hot}, scratch.path()));
    cr_expect_eq(function_of(table, 0), "main.hot", "%s: %s", file, function_of(table, 0).c_str());
    cr_expect_eq(table.strings.text(outermost(table, 0).linkage_name), "main.hot", "%s", file);
  }
}

Test(symbol_modules, special_sites_have_their_documented_names) {
  load::Profile profile;
  for (uint64_t kind = 0; kind <= uint64_t(load::SpecialSite::kCount); ++kind)
    profile.sites.push_back({ModuleId::none(), {kind}});
  auto table = symbol::resolve(profile);
  cr_expect_eq(function_of(table, uint32_t(load::SpecialSite::kStartUp)), "[start-up]");
  cr_expect_eq(function_of(table, uint32_t(load::SpecialSite::kTruncated)),
               "[Skipped frame(s): stack depth limit]");
  cr_expect_eq(function_of(table, uint32_t(load::SpecialSite::kNoUnwindInfo)),
               "[Unknown frame(s): no unwind information]");
  cr_expect_eq(function_of(table, uint32_t(load::SpecialSite::kCount)), "[Unknown frame(s)]");
  for (uint32_t site = 0; site < profile.sites.size(); ++site) {
    cr_expect(function_of(table, site).starts_with("[") && function_of(table, site).ends_with("]"));
    cr_expect_eq(outermost(table, site).source, symbol::NameSource::kSpecial);
  }
}
