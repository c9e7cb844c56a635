// SPDX-License-Identifier: MIT
// Functions, lines and inlined calls of real binaries against addr2line and nm. Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "test/unit/symbol_tools.h"
#include "viewer/symbol/demangle.h"
#include "viewer/symbol/resolver.h"

using namespace varve;
using namespace varve::test;

namespace {

struct Symbol {
  uint64_t start, end;
  std::string name;
};

/// Functions with a size, by nm.
std::vector<Symbol> functions_by_nm(const std::string& file) {
  std::vector<Symbol> symbols;
  std::istringstream lines(shell(fmt::format("nm -S --defined-only '{}'", file)));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string start, size, type, name;
    if (!(words >> start >> size >> type >> name) || std::string("tTwW").find(type) == std::string::npos)
      continue;
    uint64_t low = std::stoull(start, nullptr, 16);
    symbols.push_back({low, low + std::stoull(size, nullptr, 16), name});
  }
  return symbols;
}

std::vector<uint64_t> random_code(const std::vector<Symbol>& symbols, size_t count) {
  std::mt19937_64 random(20240607);
  std::set<uint64_t> addresses;
  while (addresses.size() < count) {
    const Symbol& symbol = symbols[random() % symbols.size()];
    if (symbol.end > symbol.start) addresses.insert(symbol.start + random() % (symbol.end - symbol.start));
  }
  return {addresses.begin(), addresses.end()};
}

struct Place {
  std::string function, file, line;
};

/// Innermost first, for each address.
std::map<uint64_t, std::vector<Place>> places_by_addr2line(const std::string& file,
                                                           const std::vector<uint64_t>& vaddrs,
                                                           const ScratchDirectory& scratch) {
  std::string list;
  for (uint64_t vaddr : vaddrs) list += fmt::format("{:#x}\n", vaddr);
  write_text(scratch.path("addresses"), list);
  std::istringstream lines(
      shell(fmt::format("addr2line -a -i -f -C -e '{}' < '{}'", file, scratch.path("addresses"))));
  std::map<uint64_t, std::vector<Place>> places;
  std::vector<Place>* here = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0x")) {
      here = &places[std::stoull(line, nullptr, 16)];
      continue;
    }
    Place place{line, "", ""};
    std::getline(lines, line);
    line = line.substr(0, line.find(" (discriminator"));
    size_t colon = line.rfind(':');
    place.file = std::filesystem::path(line.substr(0, colon)).filename();
    place.line = line.substr(colon + 1) == "?" ? "0" : line.substr(colon + 1);
    here->push_back(place);
  }
  return places;
}

/// The last name of a path of names: addr2line prints "push" where the DWARF alone would say "Queue::push".
std::string last_name(const std::string& name) {
  std::string text = symbol::short_cxx_name(name);
  text = text.substr(0, text.find('.'));
  size_t colons = text.rfind("::");
  return colons == std::string::npos ? text : text.substr(colons + 2);
}

struct Agreement {
  size_t equal = 0, lines = 0, files = 0, names = 0;
};

Agreement compare(const symbol::SymbolTable& table, const std::vector<uint64_t>& vaddrs,
                  const std::map<uint64_t, std::vector<Place>>& places) {
  Agreement result;
  for (uint32_t i = 0; i < vaddrs.size(); ++i) {
    const std::vector<Place>& expected = places.at(vaddrs[i]);
    auto frames = table.frames({i});
    bool lines = frames.size() == expected.size(), files = lines, names = lines;
    for (size_t k = 0; lines && k < frames.size(); ++k) {
      const symbol::Function& function = table.functions[frames[k].function.index()];
      lines = expected[k].line == std::to_string(frames[k].line);
      files =
          files && (frames[k].line == 0 ||
                    std::filesystem::path(table.strings.text(frames[k].file)).filename() == expected[k].file);
      // addr2line gives the innermost frame the name of the symbol, if the DWARF has no linkage name for it.
      std::string expected_name = last_name(expected[k].function);
      bool spoiled = k == 0 && expected_name == last_name(expected.back().function);
      names =
          names && (spoiled || last_name(std::string(table.strings.text(function.name))) == expected_name);
    }
    result.lines += !lines;
    result.files += lines && !files;
    result.names += lines && !names;
    result.equal += lines && files && names;
    if (!lines || !names)
      fmt::print(stderr, "{:#x}: {}against {} frames of addr2line, the first {} {}:{}\n", vaddrs[i],
                 chain_of(table, i), expected.size(), expected[0].function, expected[0].file,
                 expected[0].line);
  }
  return result;
}

constexpr const char* kInlineChain = R"(
#include <cstdio>
namespace shop {
template <typename T> struct Queue {
  __attribute__((always_inline)) inline T push(T value) {
    sum = sum * 31 + value;
    return sum;
  }
  T sum = 1;
};
__attribute__((always_inline)) inline long fill(Queue<long>& queue, long n) {
  return queue.push(n) + 1;
}
__attribute__((noinline)) long work(long n) {
  Queue<long> queue;
  queue.sum = n;
  return fill(queue, n);
}
}
int main(int argc, char**) { return (int)shop::work(argc); }
)";

}  // namespace

Test(symbol_lines, random_addresses_of_this_program_are_as_addr2line_says) {  // D-48
  ScratchDirectory scratch;
  std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<uint64_t> vaddrs = random_code(functions_by_nm(self), 1000);
  symbol::SymbolTable table = symbol::resolve(profile_of(self, vaddrs, scratch.path()));
  Agreement agreement = compare(table, vaddrs, places_by_addr2line(self, vaddrs, scratch));
  // addr2line now and then takes the file of a neighbouring sequence or the function of an overlapping range.
  cr_expect_leq(agreement.lines, 5, "%zu chains differ", agreement.lines);
  cr_expect_leq(agreement.names, 10, "%zu names differ", agreement.names);
  cr_expect_geq(agreement.equal, 940, "only %zu are equal; %zu files differ", agreement.equal,
                agreement.files);
}

Test(symbol_lines, every_function_is_the_symbol_that_nm_gives) {  // D-48
  ScratchDirectory scratch;
  std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<Symbol> symbols = functions_by_nm(self);
  std::vector<uint64_t> vaddrs = random_code(symbols, 1000);
  load::Profile profile = profile_of(self, vaddrs, scratch.path());
  std::string bare = scratch.path("bare");
  shell(fmt::format("objcopy -g '{}' '{}'", self, bare));
  profile.modules[0].path = bare;
  symbol::SymbolTable table = symbol::resolve(profile);
  for (uint32_t i = 0; i < vaddrs.size(); ++i) {
    const symbol::Function& function = table.functions[table.frames({i}).back().function.index()];
    std::string linkage(table.strings.text(function.linkage_name));
    bool known = std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& symbol) {
      return symbol.name == linkage && symbol.start <= vaddrs[i] && vaddrs[i] < symbol.end;
    });
    cr_expect(known, "%#lx is not in %s", vaddrs[i], linkage.c_str());
    cr_expect_eq(table.frames({i}).size(), 1);
  }
}

Test(symbol_lines, inlined_calls_become_frames) {
  ScratchDirectory scratch;
  write_text(scratch.path("chain.cc"), kInlineChain);
  for (const char* flags : {"-gdwarf-5", "-gdwarf-4", "-gdwarf-4 -gno-column-info -no-pie",
                            "-gdwarf-5 -gz=zlib", "-gdwarf-5 -flto", "-gdwarf-5 -gsplit-dwarf"}) {
    std::string program = scratch.path("chain");
    shell(fmt::format("cd '{}' && g++ -O2 {} -o chain chain.cc", scratch.path(), flags));
    std::vector<uint64_t> vaddrs;
    for (const Symbol& symbol : functions_by_nm(program))
      if (symbol.name == "_ZN4shop4workEl")
        for (uint64_t vaddr = symbol.start; vaddr < symbol.end; ++vaddr) vaddrs.push_back(vaddr);
    uint64_t start = vaddrs.at(0);
    symbol::SymbolTable table = symbol::resolve(profile_of(program, vaddrs, scratch.path()));
    bool found = false;
    for (uint32_t i = 0; i < vaddrs.size(); ++i) {
      cr_expect_eq(function_of(table, i), "shop::work(long)", "%s: %s", flags, function_of(table, i).c_str());
      found |= chain_of(table, i) ==
               "shop::Queue<long>::push(long) chain.cc:6 (inlined)\nshop::fill(shop::Queue<long>&, long) "
               "chain.cc:12 (inlined)\nshop::work(long) chain.cc:17\n";
    }
    cr_expect(found, "with %s no address has the chain; the last is\n%s", flags, chain_of(table, 4).c_str());
    const symbol::Function& work = table.functions[table.frames({0}).back().function.index()];
    cr_expect_eq(work.low.value, start);
    cr_expect_gt(work.size, 4);
    cr_expect_eq(table.strings.text(work.short_name), "shop::work");
  }
}

Test(symbol_lines, local_classes_and_lambdas_have_their_scopes) {
  ScratchDirectory scratch;
  write_text(scratch.path("local.cc"), R"(
namespace {
struct Hidden {
  static __attribute__((always_inline)) inline long twist(long n) { return n * 77 + (n >> 3); }
};
}
__attribute__((noinline)) long outer(long n) {
  struct Local {
    static __attribute__((noinline)) long inner(long n) { return Hidden::twist(n); }
  };
  return Local::inner(n) + 1;
}
int main(int argc, char**) { return (int)outer(argc); }
)");
  std::string program = scratch.path("local");
  shell(fmt::format("g++ -O2 -g -o '{}' '{}'", program, scratch.path("local.cc")));
  std::vector<uint64_t> vaddrs{address_of(program, "_ZZ5outerlEN5Local5innerEl"),
                               address_of(program, "_ZZ5outerlEN5Local5innerEl") + 3};
  symbol::SymbolTable table = symbol::resolve(profile_of(program, vaddrs, scratch.path()));
  cr_expect_eq(function_of(table, 0), "outer(long)::Local::inner(long)", "%s", function_of(table, 0).c_str());
  std::string chain = chain_of(table, 0) + chain_of(table, 1);
  cr_expect(chain.find("(anonymous namespace)::Hidden::twist") != std::string::npos, "%s", chain.c_str());
}
