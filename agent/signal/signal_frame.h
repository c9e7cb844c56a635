// SPDX-License-Identifier: MIT
// Where the kernel keeps the interrupted registers in the ucontext of a signal frame (x86-64,
// arch/x86/include/uapi/ asm/sigcontext.h), by DWARF register number. Context: signal.
#pragma once

#include <cstdint>

#include "common/cfi.h"

namespace varve::agent {

/// Bytes from the start of the ucontext to gregs: flags, link and the alternate stack stand before.
inline constexpr int64_t kUcontextRegisters = 40;

/// The DWARF numbers in the order of the kernel's words.
inline constexpr uint8_t kUcontextOrder[cfi::kRegisterCount] = {8, 9, 10, 11, 12, 13, 14, 15, 5,
                                                                4, 6, 3,  1,  0,  2,  7,  16};

inline constexpr int64_t kUcontextRsp = kUcontextRegisters + 15 * 8;
inline constexpr int64_t kUcontextRip = kUcontextRegisters + 16 * 8;

}  // namespace varve::agent
