// SPDX-License-Identifier: MIT
// From a pc to its row of call frame information: object, table, FDE, CFA program. This is what a cache miss
// costs. Context: signal.
#pragma once

#include <cstdint>

#include "agent/signal/object_lookup.h"
#include "agent/signal/packed_rule.h"
#include "common/cfi.h"

namespace varve::agent {

/// The FDE and the row for `pc`; kNone where the code has no CFI.
cfi::Status find_row(FindObject find, uint64_t pc, cfi::Fde* fde, cfi::Row* row);

/// The packed rule for `pc`: Form::kFramePointer without CFI, Form::kStop where the CFI cannot be used.
PackedRule find_rule(FindObject find, uint64_t pc);

}  // namespace varve::agent
