// SPDX-License-Identifier: MIT
// Call frame information made by hand: what each operation means, and that broken entries are refused without
// a read outside of them (the bytes stand in heap blocks of their exact size, so AddressSanitizer sees one
// too many). Context: tests.
#include "common/cfi.h"

#include <criterion/criterion.h>

#include <memory>

#include "common/cfi_expression.h"
#include "test/unit/cfi_numbers.h"
#include "test/unit/frame_image.h"

using namespace varve;
using namespace varve::cfi;
using namespace varve::test;

namespace {

constexpr uint64_t kBegin = 0x400000, kSize = 0x1000;

/// An FDE behind a CIE, and its place.
struct Entries {
  Entries(Bytes cie, const Bytes& program) : section(cie + fde(cie.size(), kBegin, kSize, program)) {
    fde_address = section.span.begin + cie.size();
  }
  explicit Entries(const Bytes& program) : Entries(usual_cie(), program) {}

  Status row(uint64_t pc_offset, Row* row) {
    Fde parsed;
    const uint64_t pc = kBegin + pc_offset;
    const Status status = parse_fde(section.span, fde_address, 0, pc, &parsed);
    return status == Status::kOk ? run_program(parsed, pc, row) : status;
  }
  Status status(uint64_t pc_offset = 0) {
    Row ignored;
    return row(pc_offset, &ignored);
  }

  Section section;
  uint64_t fde_address;
};

}  // namespace

Test(cfi, initial_row) {
  Entries entries({});
  Row row;
  cr_assert_eq(int(entries.row(0, &row)), int(Status::kOk));
  cr_assert_eq(row.cfa_register, kRsp);
  cr_assert_eq(row.cfa_value, 8);
  cr_assert_eq(int(row.rule[kReturnAddress]), int(Rule::kOffset));
  cr_assert_eq(row.value[kReturnAddress], -8);
  cr_assert_eq(int(row.rule[kRbx]), int(Rule::kUnspecified));
}

Test(cfi, range_of_an_fde) {
  Entries entries({});
  cr_assert_eq(int(entries.status(kSize - 1)), int(Status::kOk));
  cr_assert_eq(int(entries.status(kSize)), int(Status::kNone));
  cr_assert_eq(int(entries.status(uint64_t(-1))), int(Status::kNone));
}

Test(cfi, locations) {
  const Bytes program = op::advance(4) + op::def_cfa_offset(16) + Bytes{0x02, 200} + op::def_cfa_offset(24) +
                        Bytes{0x03, 0x00, 0x02} + op::def_cfa_offset(32) + Bytes{0x04, 0, 4, 0, 0} +
                        op::def_cfa_offset(40) + Bytes{0x01} + raw(kBegin + 0xf00) + op::def_cfa_offset(48);
  Entries entries(program);
  struct {
    uint64_t pc;
    int32_t cfa;
  } const expected[] = {{0, 8},    {3, 8},     {4, 16},    {203, 16},   {204, 24},   {715, 24},
                        {716, 32}, {1739, 32}, {1740, 40}, {0xeff, 40}, {0xf00, 48}, {kSize - 1, 48}};
  for (const auto& [pc, cfa] : expected) {
    Row row;
    cr_assert_eq(int(entries.row(pc, &row)), int(Status::kOk));
    cr_assert_eq(row.cfa_value, cfa, "at %lu: %d", pc, row.cfa_value);
  }
}

Test(cfi, every_register_rule) {
  const Bytes program = op::offset(3, 2) + Bytes{0x05, 6, 3} + op::undefined(12) + op::same_value(13) +
                        op::in_register(14, 1) + Bytes{0x11, 15, 0x7e} + Bytes{0x14, 0, 4} +
                        Bytes{0x15, 1, 0x7d} + Bytes{0x2f, 2, 5} + op::expression(4, {0x96}) +
                        op::val_expression(5, {0x96, 0x96}) + Bytes{0x2e, 16};
  Entries entries(program);
  Row row;
  cr_assert_eq(int(entries.row(0, &row)), int(Status::kOk));
  struct {
    unsigned reg;
    Rule rule;
    int32_t value;
  } const expected[] = {{3, Rule::kOffset, -16},    {6, Rule::kOffset, -24},   {12, Rule::kUndefined, 0},
                        {13, Rule::kSame, 0},       {14, Rule::kRegister, 1},  {15, Rule::kOffset, 16},
                        {0, Rule::kValOffset, -32}, {1, Rule::kValOffset, 24}, {2, Rule::kOffset, 40}};
  for (const auto& [reg, rule, value] : expected) {
    cr_assert_eq(int(row.rule[reg]), int(rule), "register %u", reg);
    cr_assert_eq(row.value[reg], value, "register %u: %d", reg, row.value[reg]);
  }
  Fde parsed;
  parse_fde(entries.section.span, entries.fde_address, 0, kBegin, &parsed);
  cr_assert_eq(int(row.rule[4]), int(Rule::kExpression));
  cr_assert_eq(int(row.rule[5]), int(Rule::kValExpression));
  const Span four = expression_at(parsed, row.value[4]), five = expression_at(parsed, row.value[5]);
  cr_assert_eq(four.end - four.begin, 1);
  cr_assert_eq(five.end - five.begin, 2);
}

Test(cfi, every_cfa_rule) {
  struct {
    Bytes program;
    unsigned reg;
    int32_t value;
  } const cases[] = {
      {op::def_cfa(6, 16), 6, 16},         {op::def_cfa_register(6), 6, 8},
      {op::def_cfa_offset(4096), 7, 4096}, {Bytes{0x12, 6, 0x7e}, 6, 16},  // def_cfa_sf -2
      {Bytes{0x13, 0x7c}, 7, 32},                                          // def_cfa_offset_sf -4
  };
  for (const auto& test : cases) {
    Row row;
    cr_assert_eq(int(Entries(test.program).row(0, &row)), int(Status::kOk));
    cr_assert_eq(row.cfa_register, test.reg);
    cr_assert_eq(row.cfa_value, test.value);
  }
  Row row;
  cr_assert_eq(int(Entries(op::def_cfa_expression({0x96})).row(0, &row)), int(Status::kOk));
  cr_assert_eq(row.cfa_register, kCfaExpression);
}

Test(cfi, remember_and_restore) {
  Entries entries(op::offset(3, 2) + op::remember + op::def_cfa_offset(64) + op::offset(3, 9) + op::remember +
                  op::undefined(3) + op::restore_state + op::advance(1) + op::restore_state + op::advance(1) +
                  Bytes{0xc0 | 3} + op::advance(1) + op::offset(16, 7) + Bytes{0x06, 16});
  Row row;
  entries.row(0, &row);
  cr_assert_eq(row.cfa_value, 64);
  cr_assert_eq(row.value[3], -72);
  entries.row(1, &row);
  cr_assert_eq(row.cfa_value, 8);
  cr_assert_eq(row.value[3], -16);
  entries.row(2, &row);
  cr_assert_eq(int(row.rule[3]), int(Rule::kUnspecified));
  entries.row(3, &row);
  cr_assert_eq(row.value[16], -8);
}

Test(cfi, long_programs_are_run_to_their_end) {
  Bytes program;
  for (int i = 0; i < 4000; ++i)
    program = program + op::advance(1) + op::def_cfa_offset(uint64_t(8 * (i % 50 + 1)));
  Entries entries(program);
  Row row;
  cr_assert_eq(int(entries.row(3999, &row)), int(Status::kOk));
  cr_assert_eq(row.cfa_value, 8 * (3998 % 50 + 1));
}

Test(cfi, augmentations) {
  // zPLR: personality pc-relative in 4 bytes, LSDA pc-relative, FDE addresses pc-relative in 4 bytes.
  const Bytes cie =
      entry(raw(uint32_t{0}) + Bytes{1, 'z', 'P', 'L', 'R', 0} + uleb(1) + sleb(-8) + Bytes{16} + uleb(7) +
            Bytes{0x9b, 1, 2, 3, 4, 0x1b, 0x1b} + op::def_cfa(7, 8) + op::offset(16, 1));
  const uint64_t place = 0x10000 + cie.size() + 8;  // of pc_begin
  const Bytes body = raw(uint32_t(cie.size() + 4)) + raw(int32_t(kBegin - place)) + raw(uint32_t(kSize)) +
                     uleb(4) + Bytes{9, 9, 9, 9} + op::def_cfa_offset(56);
  Section section(cie + entry(body));
  Fde parsed;
  Row row;
  const uint64_t pc = kBegin + 5;
  cr_assert_eq(int(parse_fde(section.span, 0x10000 + cie.size(), 0, pc, &parsed)), int(Status::kOk));
  cr_assert_eq(parsed.pc_begin, kBegin);
  cr_assert_eq(parsed.pc_end, kBegin + kSize);
  cr_assert_not(parsed.signal_frame);
  cr_assert_eq(int(run_program(parsed, pc, &row)), int(Status::kOk));
  cr_assert_eq(row.cfa_value, 56);
}

Test(cfi, signal_frames_are_marked) {
  const Bytes cie = usual_cie(/*signal=*/true);
  Section section(cie + fde(cie.size(), kBegin, kSize, {}));
  Fde parsed;
  cr_assert_eq(int(parse_fde(section.span, 0x10000 + cie.size(), 0, kBegin, &parsed)), int(Status::kOk));
  cr_assert(parsed.signal_frame);
}

Test(cfi, refused_entries) {
  const Bytes number_of_cie = raw(uint32_t{0});
  struct {
    Bytes cie;
    Status status;
  } const cases[] = {
      {entry(raw(uint32_t{7}) + Bytes{1, 0, 1, 0x78, 16}), Status::kBad},                 // not a CIE
      {entry(number_of_cie + Bytes{9, 0, 1, 0x78, 16}), Status::kUnsupported},            // version
      {entry(number_of_cie + Bytes{1, 0, 1, 0x78, 30}), Status::kUnsupported},            // return column
      {entry(number_of_cie + Bytes{1, 'e', 'h', 0, 1, 0x78, 16}), Status::kUnsupported},  // gcc 2
      {entry(number_of_cie + Bytes{1, 'z', 'R', 0, 1, 0x78, 16, 200, 0}), Status::kBad},  // size too large
      {entry(number_of_cie + Bytes{1, 'z', 'R', 0, 1, 0x78, 16, 1, 0xff}),
       Status::kBad},  // omitted addresses
      {entry(number_of_cie + Bytes{1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x80}), Status::kBad},  // indirect
      {entry(number_of_cie + Bytes{1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x00}), Status::kBad},  // no CFA
  };
  for (const auto& test : cases)
    cr_assert_eq(int(Entries(test.cie, {}).status()), int(test.status), "case %td", &test - cases);
}

Test(cfi, refused_programs) {
  struct {
    Bytes program;
    Status status;
  } const cases[] = {
      {op::restore_state, Status::kBad},
      {op::remember + op::remember + op::remember + op::remember, Status::kUnsupported},
      {{0x2d}, Status::kUnsupported},                       // window_save
      {{0x3e}, Status::kUnsupported},                       // nobody's
      {op::def_cfa(40, 8), Status::kUnsupported},           // a CFA in a vector register
      {op::def_cfa(7, 0x100000000), Status::kUnsupported},  // a frame of 4 GB
      {Bytes{0x10, 3} + uleb(1000), Status::kBad},          // an expression longer than the entry
      {Bytes{0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
       Status::kBad},  // a number that the entry's end cuts (no padding)
  };
  for (const auto& test : cases)
    cr_assert_eq(int(Entries(test.program).status()), int(test.status), "case %td", &test - cases);
  cr_assert_eq(int(Entries(op::offset(20, 1) + op::undefined(60)).status()),
               int(Status::kOk));  // vector registers
}

Test(cfi, truncated_at_every_length) {
  const Bytes cie = usual_cie();
  const Bytes whole =
      cie + fde(cie.size(), kBegin, kSize,
                op::advance(1) + op::def_cfa_expression(op::breg(7, 8) + op::deref) +
                    op::expression(6, op::breg(6, 0)) + Bytes{0x04, 1, 0, 0, 0} + op::def_cfa(6, 16));
  for (size_t size = 0; size < whole.size(); ++size) {
    Section section(Bytes(whole.begin(), whole.begin() + ptrdiff_t(size)));
    Fde parsed;
    cr_assert_eq(int(parse_fde(section.span, 0x10000 + cie.size(), 0, kBegin + 8, &parsed)),
                 int(Status::kBad));
  }
  // Entries whose own length is too short: the bytes after it are not theirs.
  for (uint32_t length = 0; length < cie.size(); ++length) {
    Bytes cut = whole;
    std::memcpy(cut.data() + cie.size(), &length, sizeof length);
    Section section(cut);
    Fde parsed;
    Row row;
    if (parse_fde(section.span, 0x10000 + cie.size(), 0, kBegin + 8, &parsed) == Status::kOk)
      run_program(parsed, kBegin + 8, &row);
  }
}

Test(cfi, every_byte_changed) {
  const Bytes cie = usual_cie();
  const Bytes whole =
      cie + fde(cie.size(), kBegin, kSize,
                op::advance(1) + op::def_cfa_expression(op::breg(7, 8) + op::deref) + op::remember +
                    op::expression(6, op::breg(6, 0)) + op::restore_state + op::offset(3, 2));
  for (size_t at = 0; at < whole.size(); ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      Bytes changed = whole;
      changed[at] = uint8_t(value);
      Section section(changed);
      Fde parsed;
      Row row;
      uint64_t result;
      Numbers domain;
      if (parse_fde(section.span, 0x10000 + cie.size(), 0, kBegin + 1, &parsed) != Status::kOk) continue;
      if (run_program(parsed, kBegin + 1, &row) != Status::kOk || row.cfa_register != kCfaExpression)
        continue;
      Evaluator(domain, expression_at(parsed, row.cfa_value)).run(nullptr, &result);
    }
  }
}

Test(cfi, header_table) {
  const uint64_t address = 0x20000;
  Bytes header = Bytes{1, 0x1b, 0x03, 0x3b} + raw(uint32_t{0}) + raw(uint32_t{5});
  for (int32_t i = 0; i < 5; ++i)
    header = header + raw(int32_t(0x1000 + 0x100 * i)) + raw(int32_t(0x8000 + 32 * i));
  Section section(header, address);
  uint64_t found = 0;
  cr_assert_eq(int(find_fde(section.span, address + 0xfff, &found)), int(Status::kNone));
  for (uint64_t i = 0; i < 5; ++i) {
    for (uint64_t within : {0ul, 1ul, 0xfful}) {
      cr_assert_eq(int(find_fde(section.span, address + 0x1000 + 0x100 * i + within, &found)),
                   int(Status::kOk));
      cr_assert_eq(found, address + 0x8000 + 32 * i);
    }
  }
  cr_assert_eq(int(find_fde(section.span, address + 0x7fffffff, &found)), int(Status::kOk));
  cr_assert_eq(found, address + 0x8000 + 32 * 4);
  for (size_t size = 0; size < header.size(); ++size) {
    Section cut(Bytes(header.begin(), header.begin() + ptrdiff_t(size)), address);
    cr_assert_eq(int(find_fde(cut.span, address + 0x1000, &found)), int(Status::kBad));
  }
}

Test(cfi, headers_without_a_usable_table) {
  uint64_t found;
  const Bytes row = raw(int32_t{0}) + raw(int32_t{0});
  cr_assert_eq(
      int(find_fde(Section(Bytes{2, 0xff, 0x03, 0x3b} + raw(uint32_t{1}) + row).span, 0x10000, &found)),
      int(Status::kBad));
  cr_assert_eq(int(find_fde(Section(Bytes{1, 0xff, 0xff, 0xff}).span, 0x10000, &found)), int(Status::kNone));
  cr_assert_eq(int(find_fde(Section(Bytes{1, 0xff, 0x03, 0x3b} + raw(uint32_t{0})).span, 0x10000, &found)),
               int(Status::kNone));
  cr_assert_eq(
      int(find_fde(Section(Bytes{1, 0xff, 0x03, 0x3b} + raw(uint32_t{2}) + row).span, 0x10000, &found)),
      int(Status::kBad));
}
