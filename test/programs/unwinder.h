// SPDX-License-Identifier: MIT
// The agent's unwinder as part of a test program of one file: its sources, compiled into the program that
// includes this. Context: test programs.
#pragma once

#include "agent/signal/frame_lookup.cc"
#include "agent/signal/full_step.cc"
#include "agent/signal/java_frames.cc"
#include "agent/signal/kernel_copy.cc"
#include "agent/signal/packed_rule.cc"
#include "agent/signal/rule_cache.cc"
#include "agent/signal/stack_memory.cc"
#include "agent/signal/unwind.cc"
#include "common/cfi.cc"
#include "common/cfi_cursor.cc"
#include "common/cfi_expression.cc"
#include "common/cfi_table.cc"
#include "test/programs/walk_setup.h"
