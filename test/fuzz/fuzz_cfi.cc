// SPDX-License-Identifier: MIT
// Call frame information from a stranger: the header's table, entries, programs and expressions. The first
// eight bytes choose where an FDE is looked for and at which pc. Context: fuzzing.
#include <cstdint>
#include <cstring>

#include "common/cfi.h"
#include "common/cfi_expression.h"
#include "test/fuzz/replay_main.h"

namespace {

using namespace varve;

struct Numbers {
  using Value = uint64_t;
  static constexpr unsigned kStackSlots = 16;

  static Value constant(uint64_t number) { return number; }
  static bool reg(unsigned dwarf, int64_t offset, Value* value) {
    return *value = dwarf + uint64_t(offset), true;
  }
  static bool load(Value address, unsigned bytes, Value* value) { return *value = address ^ bytes, true; }
  static bool add(Value a, Value b, Value* sum) { return *sum = a + b, true; }
  static bool number(Value value, uint64_t* result) { return *result = value, true; }
};

void evaluate(const cfi::Fde& fde, int32_t place) {
  Numbers domain;
  uint64_t start = 16, result;
  cfi::Evaluator(domain, cfi::expression_at(fde, place)).run(&start, &result);
}

void run(cfi::Span section, uint64_t address, uint64_t pc) {
  cfi::Fde fde;
  cfi::Row row;
  if (cfi::parse_fde(section, address, section.begin, pc, &fde) != cfi::Status::kOk) return;
  if (cfi::run_program(fde, pc, &row) != cfi::Status::kOk) return;
  if (row.cfa_register == cfi::kCfaExpression) evaluate(fde, row.cfa_value);
  for (unsigned reg = 0; reg < cfi::kRegisterCount; ++reg)
    if (row.rule[reg] == cfi::Rule::kExpression || row.rule[reg] == cfi::Rule::kValExpression)
      evaluate(fde, row.value[reg]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint32_t place, pc;
  if (size < sizeof place + sizeof pc) return 0;
  std::memcpy(&place, data, sizeof place);
  std::memcpy(&pc, data + sizeof place, sizeof pc);
  data += 8, size -= 8;
  constexpr uint64_t kAddress = 0x10000;
  const cfi::Span section{kAddress, kAddress + size, reinterpret_cast<uint64_t>(data) - kAddress};
  uint64_t found;
  if (cfi::find_fde(section, pc, &found) == cfi::Status::kOk) run(section, found, pc);
  run(section, kAddress + place % (size + 1), pc);
  return 0;
}
