// SPDX-License-Identifier: MIT
// Recognizing the common forms; see packed_rule.h. Expressions are evaluated over symbols, register + offset
// and one load of it, with the pc a known number: that folds the rows of PLT stubs, which compute with the
// pc, to plain offsets. Context: signal.
#include "agent/signal/packed_rule.h"

#include "agent/signal/signal_frame.h"
#include "common/cfi_expression.h"

namespace varve::agent {
namespace {

using cfi::Rule;

/// reg + inner, or *(reg + inner) + outer, or (reg < 0) the number `inner`.
struct Symbol {
  int reg = -1;
  bool loaded = false;
  int64_t inner = 0;
  int64_t outer = 0;
};

struct SymbolDomain {
  using Value = Symbol;
  static constexpr unsigned kStackSlots = 6;  // PLT stubs need four

  uint64_t pc;

  static Value constant(uint64_t number) { return {.inner = int64_t(number)}; }
  bool reg(unsigned dwarf, int64_t offset, Value* value) const {
    *value = dwarf == cfi::kReturnAddress ? constant(pc + uint64_t(offset))
                                          : Symbol{.reg = int(dwarf), .inner = offset};
    return true;
  }
  static bool load(Value address, unsigned bytes, Value* value) {
    *value = address;
    value->loaded = true;
    return bytes == 8 && address.reg >= 0 && !address.loaded;
  }
  static bool add(Value a, Value b, Value* sum) {
    const bool first = b.reg < 0;
    *sum = first ? a : b;
    int64_t& offset = sum->loaded ? sum->outer : sum->inner;
    offset = int64_t(uint64_t(offset) + uint64_t(first ? b.inner : a.inner));
    return first || a.reg < 0;
  }
  static bool number(Value value, uint64_t* result) {
    *result = uint64_t(value.inner);
    return value.reg < 0;
  }
};

bool symbolic(const cfi::Fde& fde, int32_t place, uint64_t pc, Symbol* result) {
  SymbolDomain domain{pc};
  return cfi::Evaluator(domain, cfi::expression_at(fde, place)).run(nullptr, result);
}

bool symbolic_cfa(const cfi::Fde& fde, const cfi::Row& row, uint64_t pc, Symbol* cfa) {
  if (row.cfa_register == cfi::kCfaExpression) return symbolic(fde, row.cfa_value, pc, cfa) && cfa->reg >= 0;
  *cfa = Symbol{.reg = row.cfa_register, .inner = row.cfa_value};
  return row.cfa_register < cfi::kReturnAddress;
}

bool in_words(int64_t bytes, int64_t* words) {
  *words = bytes / 8;
  return bytes % 8 == 0;
}

/// Where rbp or rbx was saved, in words from the CFA or (*from_base) from the register under the CFA.
bool slot_words(const cfi::Fde& fde, const cfi::Row& row, unsigned reg, const Symbol& cfa, uint64_t pc,
                int64_t* words, bool* from_base) {
  *from_base = false;
  switch (row.rule[reg]) {
    case Rule::kUnspecified:
    case Rule::kSame:
      *words = PackedRule::kKept;
      return true;
    case Rule::kUndefined:
      *words = PackedRule::kLost;
      return true;
    case Rule::kOffset:
      return in_words(row.value[reg], words) && *words > PackedRule::kLost;
    case Rule::kExpression: {
      Symbol slot;
      if (!symbolic(fde, row.value[reg], pc, &slot) || slot.reg != cfa.reg || slot.loaded) return false;
      *from_base = cfa.loaded;
      return in_words(cfa.loaded ? slot.inner : slot.inner - cfa.inner, words) && *words > PackedRule::kLost;
    }
    default:
      return false;
  }
}

bool rest_is_kept(const cfi::Row& row) {
  for (unsigned reg = 0; reg < cfi::kReturnAddress; ++reg) {
    if (reg == cfi::kRbx || reg == cfi::kRbp || reg == cfi::kRsp) continue;
    if (row.rule[reg] != Rule::kUnspecified && row.rule[reg] != Rule::kSame) return false;
  }
  return true;
}

/// glibc describes its signal trampoline by expressions over the kernel's layout; with it all registers come
/// at once.
bool pack_signal_frame(const cfi::Fde& fde, const cfi::Row& row, uint64_t pc, const Symbol& cfa,
                       PackedRule* rule) {
  Symbol ip;
  if (cfa.reg != int(cfi::kRsp) || !cfa.loaded || cfa.outer != 0) return false;
  if (row.rule[cfi::kReturnAddress] != Rule::kExpression) return false;
  if (!symbolic(fde, row.value[cfi::kReturnAddress], pc, &ip)) return false;
  if (ip.reg != cfa.reg || ip.loaded || ip.inner - cfa.inner != kUcontextRip - kUcontextRsp) return false;
  int64_t words;
  *rule = PackedRule(Form::kSignal, cfi::kRsp);
  return in_words(cfa.inner - kUcontextRsp, &words) && rule->set_cfa_words(words);
}

bool pack_call_frame(const cfi::Fde& fde, const cfi::Row& row, uint64_t pc, const Symbol& cfa,
                     PackedRule* rule) {
  constexpr unsigned kRa = cfi::kReturnAddress;
  if (row.rule[kRa] != Rule::kOffset || row.value[kRa] != -8 || row.rule[cfi::kRsp] != Rule::kUnspecified)
    return false;
  int64_t inner, outer, rbp, rbx;
  bool rbp_from_base, rbx_from_base;
  if (!in_words(cfa.inner, &inner) || !in_words(cfa.outer, &outer)) return false;
  if (!slot_words(fde, row, cfi::kRbp, cfa, pc, &rbp, &rbp_from_base)) return false;
  if (!slot_words(fde, row, cfi::kRbx, cfa, pc, &rbx, &rbx_from_base)) return false;
  const bool from_base = rbp_from_base || rbx_from_base;
  const bool rbp_is_place = rbp > PackedRule::kLost, rbx_is_place = rbx > PackedRule::kLost;
  if ((rbp_is_place && rbp_from_base != from_base) || (rbx_is_place && rbx_from_base != from_base))
    return false;
  *rule = PackedRule(from_base    ? Form::kLoadBase
                     : cfa.loaded ? Form::kLoad
                                  : Form::kOffset,
                     unsigned(cfa.reg));
  if (rest_is_kept(row)) rule->keep_rest();
  return rule->set_cfa_words(inner) && rule->set_outer_words(outer) && rule->set_rbp_words(rbp) &&
         rule->set_rbx_words(rbx);
}

}  // namespace

PackedRule pack(const cfi::Fde& fde, const cfi::Row& row, uint64_t pc) {
  if (row.rule[cfi::kReturnAddress] == Rule::kUndefined) return PackedRule(Form::kRoot);
  Symbol cfa;
  PackedRule rule;
  if (!symbolic_cfa(fde, row, pc, &cfa)) return PackedRule(Form::kFull);
  const bool packed = fde.signal_frame ? pack_signal_frame(fde, row, pc, cfa, &rule)
                                       : pack_call_frame(fde, row, pc, cfa, &rule);
  return packed ? rule : PackedRule(Form::kFull);
}

}  // namespace varve::agent
