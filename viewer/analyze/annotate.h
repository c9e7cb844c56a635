// SPDX-License-Identifier: MIT
// Annotation: where in a function its time went, by source line and by instruction. Each time stands once
// among the lines, at the innermost inlined call's own line or, without inlined calls, at the line that
// called it; and once among the instructions. Both add up to `total` with what has no line and no code.
// Not the lines' text: annotate_source.h. Context: viewer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/analyze/metrics.h"
#include "viewer/analyze/path_times.h"
#include "viewer/load/profile.h"
#include "viewer/symbol/code_table.h"
#include "viewer/symbol/disassemble.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::analyze {

inline constexpr uint32_t kNoRow = UINT32_MAX;

struct AnnotatedLine {
  uint32_t file = 0;  // of Annotation::files
  uint32_t line = 0;
  bool has_code = false;  // of this function, or inlined into it
  std::string text;       // empty until add_source()
};

struct AnnotatedInstruction {
  symbol::Instruction code;  // its operands name what they refer to
  std::string bytes;
  uint32_t piece = 0;        // of Annotation::pieces
  uint32_t line = kNoRow;    // row of Annotation::lines
  uint32_t jump = kNoRow;    // row of the instruction it jumps to
  bool block_start = false;  // a jump leads here, or one before it leads away
  std::string inlined;       // the innermost function, if that is another one
  std::string callee;        // full name of the function that a call or a jump leads to, if it is another one
};

/// A stretch of code: the function's own, or one into which it was inlined.
struct AnnotatedPiece {
  std::string function;  // full name of the one that the code is of
  std::string module;
  uint64_t low = 0, end = 0;
  bool whole = false;  // all of it is shown; else the instructions of the function
};

struct Annotation {
  FunctionId function;
  std::vector<uint64_t> total;    // in the function's code, wherever it stands: self + calls inlined into it
  std::vector<uint64_t> self;     // its self time as the hotspots view has it
  std::vector<uint64_t> no_line;  // of total: the line is not known
  std::vector<uint64_t> no_code;  // of total: there are no bytes
  bool run_time_code = false;     // some of it is code that a runtime made

  std::vector<std::string> files;      // the function's own first, then by time
  std::vector<AnnotatedLine> lines;    // by file and line
  MetricTable line_metrics;            // a row each
  std::vector<AnnotatedPiece> pieces;  // the hottest first
  std::vector<AnnotatedInstruction> instructions;
  MetricTable instruction_metrics;  // a row each
};

/// The sites of a function: where its time was taken, the first ones; if it has none, wherever it was met.
std::vector<SiteId> sites_of(const load::Profile& profile, const symbol::SymbolTable& symbols,
                             const PathTimes& by_path, bool inlines, FunctionId function);

/// `code` should have the code of sites_of().
Annotation annotate(const load::Profile& profile, const symbol::SymbolTable& symbols,
                    const symbol::CodeTable& code, const PathTimes& by_path, bool inlines,
                    FunctionId function, symbol::Syntax syntax);

/// Rows with time, the most CPU time first.
std::vector<uint32_t> hottest_rows(const MetricTable& metrics);

}  // namespace varve::analyze
