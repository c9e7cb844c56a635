// SPDX-License-Identifier: MIT
// Fuzzer of the symbols file and the code file. The first byte of an input says whether header and checksums
// are set right, so that mutations reach the rows. The reader must answer with a sentence or with a table
// whose every index is in range. Context: tests.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "common/symbol_format.h"
#include "test/fuzz/repair.h"
#include "test/fuzz/replay_main.h"
#include "viewer/symbol/disassemble.h"
#include "viewer/symbol/symbol_file.h"
#include "viewer/symbol/symbols_for.h"

namespace {

using namespace varve;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_symbols: not so: %s\n", what);
  std::abort();
}

constexpr load::SessionId kSession{1, 2, 3};

load::Profile sample_profile() {
  load::Profile profile;
  load::Process process;
  process.host = "host";
  process.pid = 7;
  profile.processes.push_back(process);
  profile.modules = {
      {"/a", {1, 2}, false, {}}, {"/b", {}, false, {}}, {"[anonymous]", {}, true, ProcessId{0}}};
  for (uint32_t module = 0; module < 3; ++module)
    for (uint64_t vaddr : {0x10, 0x20, 0x30}) profile.sites.push_back({ModuleId{module}, {vaddr}});
  profile.sites.push_back({ModuleId::none(), {uint64_t(load::SpecialSite::kResidual)}});
  return profile;
}

void check(const symbol::SymbolTable& table, size_t sites) {
  auto text = [&](StringId id) { require(id.index() < table.strings.size(), "a string exists"); };
  require(table.site_first.size() == sites + 1, "every site has its place");
  for (size_t i = 0; i < sites; ++i) require(table.site_first[i] <= table.site_first[i + 1], "places ascend");
  require(table.site_first.back() == table.frame_rows.size(), "every frame belongs to a site");
  for (const auto& frame : table.frame_rows) {
    require(frame.function.index() < table.functions.size(), "a frame's function exists");
    text(frame.file);
  }
  for (const auto& function : table.functions) {
    for (StringId id : {function.name, function.short_name, function.linkage_name, function.file}) text(id);
    require(function.source <= symbol::NameSource::kSpecial, "a name's source is known");
  }
}

/// Every byte of it is in an instruction, one after the other.
void check_instructions(const symbol::CodePiece& piece) {
  uint64_t next = piece.low;
  for (const symbol::Instruction& each : symbol::disassemble(piece.bytes, next, symbol::Syntax::kAtt)) {
    require(each.address == next, "instructions follow each other");
    next = each.end();
  }
  require(next == piece.end(), "no byte is left over");
}

/// The same bytes as a code file.
void check_code(const std::vector<uint8_t>& file, const load::Profile& profile) {
  const auto read = symbol::decode_code(file, profile, kSession);
  if (!read) return require(!read.error().empty(), "a refusal says why");
  check(read->names, read->places.size());
  require(std::is_sorted(read->places.begin(), read->places.end()), "places ascend");
  for (size_t i = 0; i < read->pieces.size(); ++i) {
    const symbol::CodePiece& piece = read->pieces[i];
    require(piece.module.index() < profile.modules.size() && piece.end() > piece.low, "code is somewhere");
    require(read->piece_at(piece.module, piece.low) == &piece, "code is found");
    read->frames_at(piece.module, piece.end() - 1);
    check_instructions(piece);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const load::Profile profile = sample_profile();
  std::vector<uint8_t> file(data + 1, data + size);
  if (data[0] & 1) fuzz::repair(file, format::FileKind::kSymbols, kSession);
  check_code(file, profile);
  auto read = symbol::decode_symbols(file, profile, kSession);
  if (!read) {
    require(!read.error().empty(), "a refusal says why");
    return 0;
  }
  check(read->table, profile.sites.size());
  auto again =
      symbol::decode_symbols(symbol::encode_symbols(profile, read->table, kSession), profile, kSession);
  require(again.has_value(), "what was read can be written and read");
  require(again->table.frame_rows.size() == read->table.frame_rows.size(), "and has the same frames");
  symbol::SymbolTable merged = symbol::merge_symbols(std::move(again->table), read->table);
  check(merged, profile.sites.size());
  return 0;
}
