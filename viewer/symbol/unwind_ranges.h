// SPDX-License-Identifier: MIT
// Function ranges of a module without symbols: every entry of .eh_frame covers one function, or one part of
// it. So the addresses of one nameless function fold into one row. Not unwinding: only the ranges are read,
// never the rules. Context: viewer.
#pragma once

#include <vector>

#include "viewer/symbol/elf_symbols.h"

namespace varve::symbol {

/// Sorted and disjoint, nameless; empty where the file has no .eh_frame or it does not parse.
std::vector<CodeRange> unwind_ranges(const ElfFile& file);

}  // namespace varve::symbol
