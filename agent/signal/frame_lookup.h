// SPDX-License-Identifier: MIT
// From a pc to its row of call frame information: object, table, FDE, CFA program. This is what a cache miss
// costs. Context: signal.
#pragma once

#include <cstdint>

#include "agent/signal/kernel_copy.h"
#include "agent/signal/object_lookup.h"
#include "agent/signal/packed_rule.h"
#include "agent/signal/unload_gate.h"
#include "common/cfi.h"

namespace varve::agent {

/// The FDE and the row of a pc, and what they point into: tables that stay for as long as this, or copies.
struct FrameRow {
  Reading reading;
  cfi::Fde fde;
  cfi::Row row;
  KernelCopy bytes;
};

/// The FDE and the row for `pc`; kNone where the code has no CFI.
cfi::Status find_row(FindObject find, uint64_t pc, FrameRow* frame);

/// Whether there is what a .eh_frame_hdr leads to, by its first entry. A program whose .eh_frame was stripped
/// may have kept the header, and to read on from there in place would end it. Three copies by the kernel.
bool has_frame_tables(WindowedCopy& bytes, uint64_t eh_frame_hdr);

/// The packed rule for `pc`: Form::kFramePointer without CFI, Form::kStop where the CFI cannot be used. When
/// `pc` is not `exact` (a return address - 1) and has no CFI but the return address has, then that was pushed
/// by hand, for a function to be entered by a return. It is at_entry(), and nobody called it: a signal
/// trampoline, or the bottom of a fiber's stack (makecontext; the CFI of glibc's __start_context itself would
/// lead into data).
PackedRule find_rule(FindObject find, uint64_t pc, bool exact);

}  // namespace varve::agent
