// SPDX-License-Identifier: MIT
// Disassembly, the code that a profile carries, and annotation: every nanosecond of a function stands at one
// line and at one instruction, with and without its binary. Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "test/unit/symbol_tools.h"
#include "viewer/analyze/annotate.h"
#include "viewer/analyze/annotate_source.h"
#include "viewer/analyze/attribute.h"
#include "viewer/symbol/code_collect.h"
#include "viewer/symbol/disassemble.h"
#include "viewer/symbol/elf_file.h"
#include "viewer/symbol/resolver.h"
#include "viewer/symbol/symbol_file.h"
#include "viewer/view/request.h"

using namespace varve;
using namespace varve::test;
using analyze::kCpu;

namespace {

constexpr char kAnnotated[] = R"(#include <cstdlib>
#include <cstring>
int sink;
static inline __attribute__((always_inline)) int inner(int x) {
  return x * 3 + sink;
}
extern "C" __attribute__((noinline)) int outer(int x, const char* text) {
  int sum = int(strlen(text));
  for (int i = 0; i < x; ++i)
    sum += inner(i) ^ rand();
  return sum;
}
extern "C" __attribute__((noinline)) int host(int x) {
  if (x > 3) x *= rand();
  return inner(x) - 1;
}
int main(int argc, char** argv) { return outer(argc, argv[0]) + host(argc); }
)";

/// A program, a profile in which each instruction of its two functions has one sample of its own weight, and
/// the names.
struct Fixture {
  ScratchDirectory scratch;
  std::string binary = scratch.path("program");
  load::Profile profile;
  analyze::PathTimes by_path;
  symbol::SymbolTable symbols;

  explicit Fixture(const std::string& flags = "-g") {
    write_text(scratch.path("program.cc"), kAnnotated);
    shell(fmt::format("g++ -O2 {} -Wl,--build-id -o '{}' '{}'", flags, binary, scratch.path("program.cc")));
    const uint64_t outer = address_of(binary, "outer"), host = address_of(binary, "host");
    profile = profile_of(binary, {outer, host}, scratch.path());
    const symbol::CodeTable code = symbol::collect_code(profile, all_sites());
    std::vector<uint64_t> vaddrs;
    for (const symbol::CodePiece& piece : code.pieces)
      for (const auto& row : symbol::disassemble(piece.bytes, piece.low, symbol::Syntax::kAtt))
        vaddrs.push_back(row.address);
    profile = profile_of(binary, vaddrs, scratch.path());
    profile.paths.push_back({PathId::none(), SiteId::none()});
    for (uint32_t i = 0; i < vaddrs.size(); ++i) profile.paths.push_back({{0}, {i}});
    analyze::PathSet with(profile.paths.size());
    for (uint32_t i = 1; i < profile.paths.size(); ++i) with.insert(i);
    with.close();
    by_path = analyze::PathTimes(std::move(with));
    for (uint32_t i = 1; i < profile.paths.size(); ++i) {
      by_path.add(i, std::array<uint64_t, 2>{1'000'000 + 7 * i * i, 1});
    }
    symbols = symbol::resolve(profile);
  }

  std::vector<SiteId> all_sites() const {
    std::vector<SiteId> sites;
    for (uint32_t i = 0; i < profile.sites.size(); ++i) sites.push_back({i});
    return sites;
  }
  FunctionId function(std::string_view name) const {
    for (uint32_t i = 0; i < symbols.functions.size(); ++i)
      if (symbols.strings.text(symbols.functions[i].short_name) == name) return {i};
    cr_assert(false, "no function %s", std::string(name).c_str());
    return {};
  }
  uint64_t self_in_hotspots(FunctionId function, bool inlines) const {
    const auto keys = analyze::function_keys(profile, symbols, inlines);
    return analyze::attribute(profile.paths, by_path, keys).self.at(function.index(), kCpu);
  }
  analyze::Annotation annotate(std::string_view name, bool inlines, const symbol::CodeTable& code) const {
    return analyze::annotate(profile, symbols, code, by_path, inlines, function(name), symbol::Syntax::kAtt);
  }
};

const analyze::AnnotatedInstruction* call_of(const analyze::Annotation& it, std::string_view target) {
  for (const auto& row : it.instructions)
    if (row.code.is_call && row.code.operands.find(target) != std::string::npos) return &row;
  return nullptr;
}

uint64_t time_at(const analyze::Annotation& it, uint32_t line) {
  uint64_t time = 0;
  for (uint32_t i = 0; i < it.lines.size(); ++i)
    if (it.lines[i].line == line && it.files[it.lines[i].file].ends_with("program.cc"))
      time += it.line_metrics.at(i, kCpu);
  return time;
}

}  // namespace

Test(disassemble, knows_jumps_calls_and_ends_of_blocks) {
  const std::vector<uint8_t> bytes{0xf3, 0x0f, 0x1e, 0xfa,           // endbr64
                                   0xe8, 0x10, 0x00, 0x00, 0x00,     // call 0x1019
                                   0x74, 0x02,                       // je 0x100d
                                   0xff, 0x15, 0x20, 0,    0,    0,  // call *0x20(%rip)
                                   0x48, 0x89, 0xd8,                 // mov %rbx, %rax
                                   0xc3};                            // ret
  const auto rows = symbol::disassemble(bytes, 0x1000, symbol::Syntax::kAtt);
  cr_assert_eq(rows.size(), 6);
  cr_assert(rows[1].is_call && !rows[1].is_jump && !rows[1].ends_block);
  cr_assert_eq(rows[1].target, 0x1019);
  cr_assert(rows[2].is_jump && rows[2].ends_block);
  cr_assert_eq(rows[2].target, 0x100d);
  cr_assert(rows[3].is_call);
  cr_assert_eq(rows[3].target, 0);
  cr_assert_eq(rows[3].pointer, 0x1011 + 0x20);
  cr_assert_str_eq(rows[4].operands.c_str(), "%rbx, %rax");
  cr_assert(rows[5].ends_block);
  const auto intel = symbol::disassemble(bytes, 0x1000, symbol::Syntax::kIntel);
  cr_assert_str_eq(intel[4].operands.c_str(), "rax, rbx");
}

Test(disassemble, goes_on_behind_what_it_does_not_know) {
  // push %es is none in 64-bit code; vpcmpneqb of AVX-512 with ModRM, SIB-less, and an immediate.
  const std::vector<uint8_t> bytes{0x06, 0x62, 0xf3, 0x7d, 0x20, 0x3f, 0x06, 0x04, 0xc3, 0x0f};
  const auto rows = symbol::disassemble(bytes, 0x10, symbol::Syntax::kAtt);
  uint64_t next = 0x10;
  for (const auto& row : rows) {
    cr_assert_eq(row.address, next);
    next = row.end();
  }
  cr_assert_eq(next, 0x10 + bytes.size());
  cr_assert_str_eq(rows.front().mnemonic.c_str(), ".byte");
  cr_assert_str_eq(rows.front().operands.c_str(), "0x06");
  cr_assert(
      std::ranges::any_of(rows, [](auto& row) { return row.address == 0x18 && row.mnemonic == "retq"; }),
      "the return behind the vector instruction is found");
  cr_assert_str_eq(rows.back().mnemonic.c_str(), ".byte");
}

Test(annotate, adds_up_to_the_self_time_of_hotspots) {
  const Fixture it;
  const symbol::CodeTable code = symbol::collect_code(it.profile, it.all_sites());
  for (const char* name : {"outer", "host", "inner"}) {
    for (const bool inlines : {true, false}) {
      if (!inlines && std::string_view(name) == "inner") continue;  // it has no code of its own
      const FunctionId function = it.function(name);
      const analyze::Annotation a = it.annotate(name, inlines, code);
      cr_assert_eq(a.self[kCpu], it.self_in_hotspots(function, inlines), "%s", name);
      cr_assert_gt(a.self[kCpu], 0);
      if (!inlines) cr_assert_eq(a.total[kCpu], a.self[kCpu]);
      cr_assert_eq(a.line_metrics.sum()[kCpu] + a.no_line[kCpu], a.total[kCpu], "lines of %s", name);
      cr_assert_eq(a.instruction_metrics.sum()[kCpu] + a.no_code[kCpu], a.total[kCpu], "code of %s", name);
      cr_assert_eq(a.no_code[kCpu], 0);
    }
    // The code of a function is what hotspots has without inlined calls.
    if (std::string_view(name) != "inner")
      cr_assert_eq(it.annotate(name, true, code).total[kCpu], it.self_in_hotspots(it.function(name), false));
  }
}

Test(annotate, charges_inlined_calls_to_their_own_lines_or_to_the_call) {
  const Fixture it;
  const symbol::CodeTable code = symbol::collect_code(it.profile, it.all_sites());
  const analyze::Annotation own = it.annotate("host", true, code), called = it.annotate("host", false, code);
  const uint64_t inlined = own.total[kCpu] - own.self[kCpu];
  cr_assert_gt(inlined, 0);
  cr_assert_eq(time_at(own, 5), inlined, "the line of the inlined function");
  cr_assert_eq(time_at(called, 5), 0);
  cr_assert_eq(time_at(called, 15), time_at(own, 15) + inlined, "the line that calls it");
  cr_assert(std::ranges::any_of(own.instructions, [](auto& row) { return row.inlined == "inner"; }));
  cr_assert_eq(own.pieces.size(), 1);

  const analyze::Annotation inner = it.annotate("inner", true, code);
  cr_assert_eq(inner.pieces.size(), 2, "one of each function that it was inlined into");
  cr_assert(!inner.pieces[0].whole);
  cr_assert_eq(time_at(inner, 5), inner.total[kCpu]);
}

Test(annotate, names_what_is_called_and_links_jumps) {
  const Fixture it;
  const analyze::Annotation a = it.annotate("outer", true, symbol::collect_code(it.profile, it.all_sites()));
  cr_assert_not_null(call_of(a, "strlen@plt"));
  cr_assert_not_null(call_of(a, "rand@plt"));
  cr_assert(a.instructions.front().block_start);
  const auto jump =
      std::ranges::find_if(a.instructions, [](auto& row) { return row.jump != analyze::kNoRow; });
  cr_assert(jump != a.instructions.end());
  cr_assert_eq(a.instructions[jump->jump].code.address, jump->code.target);
  cr_assert(a.instructions[jump->jump].block_start);
  cr_assert_neq(jump->code.operands.find("<outer+0x"), std::string::npos, "%s", jump->code.operands.c_str());

  const Fixture no_plt("-g -fno-plt");
  const analyze::Annotation b =
      no_plt.annotate("outer", true, symbol::collect_code(no_plt.profile, no_plt.all_sites()));
  cr_assert_not_null(call_of(b, "<strlen@got>"), "calls through the global offset table");
}

Test(annotate, needs_no_binary_where_the_code_was_stored) {
  Fixture it;
  const symbol::CodeTable fresh = symbol::collect_code(it.profile, it.all_sites());
  cr_assert(symbol::write_code_file(it.profile, fresh).has_value());
  const analyze::Annotation before = it.annotate("outer", true, fresh);
  shell(fmt::format("rm '{}'", it.binary));
  cr_assert(symbol::collect_code(it.profile, it.all_sites()).pieces.empty());
  const symbol::FoundCode stored = symbol::code_for(it.profile, it.all_sites(), {});
  cr_assert(stored.trouble.empty(), "%s", stored.trouble.c_str());
  const analyze::Annotation after = it.annotate("outer", true, stored.table);
  cr_assert_eq(after.instructions.size(), before.instructions.size());
  for (size_t i = 0; i < after.instructions.size(); ++i) {
    cr_assert_eq(after.instructions[i].bytes, before.instructions[i].bytes);
    cr_assert_eq(after.instructions[i].code.operands, before.instructions[i].code.operands);
    cr_assert_eq(after.instructions[i].line, before.instructions[i].line);
  }
}

Test(annotate, has_a_row_for_time_without_code) {
  Fixture it;
  shell(fmt::format("rm '{}'", it.binary));
  const analyze::Annotation a = it.annotate("outer", true, symbol::collect_code(it.profile, it.all_sites()));
  cr_assert(a.instructions.empty());
  cr_assert_eq(a.no_code[kCpu], a.total[kCpu]);
  cr_assert_eq(a.line_metrics.sum()[kCpu], a.total[kCpu], "lines are those of the symbols");
}

Test(annotate, works_on_a_stripped_program) {
  Fixture it;
  const uint64_t outer = address_of(it.binary, "outer");
  shell(fmt::format("strip '{}'", it.binary));
  it.symbols = symbol::resolve(it.profile);
  const analyze::Annotation a = it.annotate(fmt::format("program+0x{:x}", outer), true,
                                            symbol::collect_code(it.profile, it.all_sites()));
  cr_assert_not_null(call_of(a, "strlen@plt"));
  cr_assert_eq(a.no_line[kCpu], a.total[kCpu]);
  cr_assert_eq(a.instruction_metrics.sum()[kCpu], a.total[kCpu]);
}

Test(annotate, finds_source_and_says_what_it_lacks) {
  Fixture it;
  const symbol::CodeTable code = symbol::collect_code(it.profile, it.all_sites());
  const std::string source = it.scratch.path("program.cc");
  const auto notes_of = [&](const symbol::SourceOptions& options) {
    analyze::Annotation a = it.annotate("outer", true, code);
    const uint64_t before = a.line_metrics.sum()[kCpu];
    auto notes = analyze::add_source(a, it.profile, it.symbols, options, {});
    cr_assert_eq(a.line_metrics.sum()[kCpu], before);
    return std::pair(std::move(a), std::move(notes));
  };
  const auto [here, quiet] = notes_of({});
  cr_assert(quiet.empty(), "%s", quiet.empty() ? "" : quiet[0].c_str());
  const auto line = std::ranges::find(here.lines, 10u, &analyze::AnnotatedLine::line);
  cr_assert_str_eq(line->text.c_str(), "    sum += inner(i) ^ rand();");
  for (const auto& row : here.instructions)
    if (row.code.is_call && row.code.operands == "rand@plt") cr_assert_eq(here.lines[row.line].line, 10);

  shell(fmt::format("mkdir '{0}/moved' && mv '{1}' '{0}/moved/'", it.scratch.path(), source));
  const auto [gone, missing] = notes_of({});
  cr_assert_eq(missing.size(), 1);
  cr_assert_neq(missing[0].find("--source-path"), std::string::npos);
  const auto [moved, none] = notes_of({{{it.scratch.path(), it.scratch.path("moved")}}, ""});
  cr_assert(none.empty());
  cr_assert_eq(moved.lines.size(), here.lines.size());

  shell(fmt::format("touch -d '+1 hour' '{}/moved/program.cc'", it.scratch.path()));
  const auto [changed, warning] = notes_of({{{it.scratch.path(), it.scratch.path("moved")}}, ""});
  cr_assert_eq(warning.size(), 1);
  cr_assert_neq(warning[0].find("changed after"), std::string::npos);
}

Test(annotate, maps_source_paths_at_folders) {
  const symbol::SourceOptions options{{{"/build/app", "/home/me/app/"}, {"/build", "/elsewhere"}}, ""};
  cr_assert(symbol::mapped_path("/build/app/a.cc", options) == "/home/me/app/a.cc");
  cr_assert(symbol::mapped_path("/build/apple.cc", options) == "/elsewhere/apple.cc");
  cr_assert(symbol::mapped_path("/builder/a.cc", options) == "/builder/a.cc");
}

Test(code_file, has_stubs_with_and_without_a_name) {
  Fixture it("-g -fcf-protection=none -Wl,-z,lazy");  // one .plt whose first stub is the way to the loader
  const auto file = symbol::ElfFile::open(it.binary);
  const symbol::Section* plt = file->section(".plt");
  cr_assert_not_null(plt);
  std::vector<uint64_t> vaddrs;
  for (uint64_t at = plt->vaddr; at < plt->end(); at += 8) vaddrs.push_back(at);
  it.profile = profile_of(it.binary, vaddrs, it.scratch.path());
  const symbol::SymbolTable names = symbol::resolve(it.profile);
  cr_assert(function_of(names, 1) == ".plt");
  cr_assert(function_of(names, 2).ends_with("@plt"));
  cr_assert(symbol::write_code_file(it.profile, symbol::collect_code(it.profile, it.all_sites())));
  const auto stored = symbol::read_code_file(it.profile);
  cr_assert(stored.has_value(), "%s", stored.error().c_str());
  for (const uint64_t at : vaddrs) {
    const symbol::CodePiece* piece = stored->piece_at({0}, at);
    cr_assert(piece && piece->low <= at && at - piece->low < 16, "no stub at %#lx", at);
  }
}

Test(code_file, refuses_damage) {
  const Fixture it;
  const symbol::CodeTable code = symbol::collect_code(it.profile, it.all_sites());
  const load::SessionId session{1, 2, 3};
  const std::vector<uint8_t> bytes = symbol::encode_code(it.profile, code, session);
  const auto again = symbol::decode_code(bytes, it.profile, session);
  cr_assert(again.has_value());
  cr_assert_eq(again->pieces.size(), code.pieces.size());
  cr_assert(again->places == code.places);
  size_t refused = 0;
  for (size_t at = 0; at < bytes.size(); at += 97) {
    std::vector<uint8_t> damaged = bytes;
    damaged[at] ^= 0x40;
    const auto read = symbol::decode_code(damaged, it.profile, session);
    refused += !read.has_value();
    if (read) cr_assert(read->places == code.places, "what is read is what was written");
  }
  cr_assert_gt(refused, 0);
  for (size_t size = 0; size < bytes.size(); size += 61)
    cr_assert(!symbol::decode_code(std::span(bytes).first(size), it.profile, session).has_value());
  cr_assert(!symbol::decode_code(bytes, it.profile, {9}).has_value());
}

/// On a narrow screen the place is what is left of a jump, not the name of the function one looks at.
Test(annotate, jumps_in_short_say_where_to) {
  Fixture it;
  for (uint32_t i = 1; i < it.profile.paths.size(); ++i) {
    it.profile.samples.time_ns.push_back(1);
    it.profile.samples.weight_ns.push_back(it.by_path.row(i)[kCpu]);
    it.profile.samples.thread.push_back(ThreadId::none());
    it.profile.samples.path.push_back({i});
    it.profile.samples.ticks.push_back(1);
  }
  view::Request request;
  request.function = "outer";
  request.function_pattern = *analyze::Pattern::parse("^outer$");
  const auto made = view::make(view::kAnnotation, {it.profile, it.symbols}, request);
  cr_assert(made.has_value(), "%s", made ? "" : made.error().c_str());
  size_t jumps = 0;
  for (const view::Table& table : made->tables) {
    const auto column = std::ranges::find(table.columns, "Instruction", &view::Column::title);
    if (column == table.columns.end()) continue;
    const auto at = size_t(column - table.columns.begin());
    for (size_t row = 0; row < table.rows.size(); ++row) {
      const auto cells = table.row(row);
      const auto words = std::get<std::string_view>(cells[at]),
                 brief = std::get<std::string_view>(cells[size_t(column->narrow)]);
      if (words.find("<outer+0x") == words.npos) {
        cr_expect(words == brief);
        continue;
      }
      ++jumps;
      const size_t name = words.find("outer");
      cr_expect(brief == std::string(words.substr(0, name)) + std::string(words.substr(name + 5)), "%s",
                std::string(brief).c_str());
    }
  }
  cr_expect_gt(jumps, 0u);
}

Test(annotate, says_when_no_time_is_in_the_code_itself) {
  Fixture it;
  view::Request request;
  request.function = "main";
  request.function_pattern = *analyze::Pattern::parse("^main$");
  // All of outer is called by main now, of which no instruction has a sample.
  const uint64_t main = address_of(it.binary, "main");
  load::Profile profile = profile_of(it.binary, {address_of(it.binary, "outer"), main}, it.scratch.path());
  profile.paths = {{PathId::none(), SiteId::none()}, {{0}, {1}}, {{1}, {0}}};
  profile.samples = {{1}, {1000}, {ThreadId::none()}, {{2}}, {1}};
  const symbol::SymbolTable symbols = symbol::resolve(profile);
  const auto made = view::make(view::kAnnotation, {profile, symbols}, request);
  cr_assert(made.has_value(), "%s", made ? "" : made.error().c_str());
  cr_expect(!made->notes.empty() && made->notes.front().starts_with("None of its time"));
}
