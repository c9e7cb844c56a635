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

cfi::Status find_row(FindObject find, uint64_t pc, FrameRow* frame) {
  ObjectFrameInfo object;
  if (!find || !find(pc, &object) || object.eh_frame_hdr == 0) return cfi::Status::kNone;
  const bool in_place = object.tables_were_seen && frame->reading.in_place();
  const cfi::Span memory = in_place ? kWholeMemory : frame->bytes.span(0, kWholeMemory.end);
  uint64_t address;
  cfi::Status status = cfi::find_fde(memory.sub(object.eh_frame_hdr, memory.end), pc, &address);
  if (status != cfi::Status::kOk) return status;
  status = cfi::parse_fde(memory, address, object.eh_frame_hdr, pc, &frame->fde);
  if (status != cfi::Status::kOk) return status;
  return cfi::run_program(frame->fde, pc, &frame->row);
}

bool has_frame_tables(WindowedCopy& bytes, uint64_t eh_frame_hdr) {
  const cfi::Span memory = bytes.span(0, kWholeMemory.end);
  uint64_t pc, address;
  cfi::Fde fde;
  cfi::Status status = cfi::first_fde(memory.sub(eh_frame_hdr, memory.end), &pc, &address);
  if (status == cfi::Status::kOk) status = cfi::parse_fde(memory, address, eh_frame_hdr, pc, &fde);
  return status != cfi::Status::kBad;
}

PackedRule find_rule(FindObject find, uint64_t pc, bool exact) {
  FrameRow frame;
  const cfi::Status status = find_row(find, pc, &frame);
  if (status == cfi::Status::kNone && !exact && find_row(find, pc + 1, &frame) == cfi::Status::kOk) {
    PackedRule rule = frame.fde.signal_frame ? pack(frame.fde, frame.row, pc + 1) : PackedRule(Form::kRoot);
    rule.set_at_entry();
    return rule;
  }
  switch (status) {
    case cfi::Status::kOk:
      return pack(frame.fde, frame.row, pc);
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
