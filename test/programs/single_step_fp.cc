// SPDX-License-Identifier: MIT
// flags: -I. -lgcc_s -lunwind -lunwind-x86_64 -Wl,-z,lazy -fno-omit-frame-pointer
// single_step.cc once more, with frame pointers: other prologues, other rows.
// Context: test program.
#include "test/programs/single_step.cc"
