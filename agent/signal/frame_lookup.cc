// SPDX-License-Identifier: MIT
// Lazy CFI; see frame_lookup.h. No table is built: the linker's sorted one is searched in place.
// Context: signal. About 1 KB of stack.
#include "agent/signal/frame_lookup.h"

namespace varve::agent {
namespace {

// The object is mapped here, so addresses are pointers. Its tables may lie in another segment than the pc (or
// in one that the loader lists as another mapping), so nothing is assumed of their place: entries bound
// themselves.
constexpr cfi::Span kWholeMemory{0, UINT64_MAX, 0};

}  // namespace

cfi::Status find_row(FindObject find, uint64_t pc, cfi::Fde* fde, cfi::Row* row) {
  ObjectFrameInfo object;
  if (!find || !find(pc, &object) || object.eh_frame_hdr == 0) return cfi::Status::kNone;
  uint64_t address;
  cfi::Status status = cfi::find_fde(kWholeMemory.sub(object.eh_frame_hdr, kWholeMemory.end), pc, &address);
  if (status != cfi::Status::kOk) return status;
  status = cfi::parse_fde(kWholeMemory, address, object.eh_frame_hdr, pc, fde);
  if (status != cfi::Status::kOk) return status;
  return cfi::run_program(*fde, pc, row);
}

PackedRule find_rule(FindObject find, uint64_t pc, bool exact) {
  cfi::Fde fde;
  cfi::Row row;
  const cfi::Status status = find_row(find, pc, &fde, &row);
  if (status == cfi::Status::kNone && !exact && find_row(find, pc + 1, &fde, &row) == cfi::Status::kOk) {
    PackedRule rule = fde.signal_frame ? pack(fde, row, pc + 1) : PackedRule(Form::kRoot);
    rule.set_at_entry();
    return rule;
  }
  switch (status) {
    case cfi::Status::kOk:
      return pack(fde, row, pc);
    case cfi::Status::kNone:
      return PackedRule(Form::kFramePointer);
    case cfi::Status::kBad:
      return PackedRule::stop(format::StackEnd::kBadCfi);
    case cfi::Status::kUnsupported:
      break;
  }
  return PackedRule::stop(format::StackEnd::kUnsupported);
}

}  // namespace varve::agent
