// SPDX-License-Identifier: MIT
// The text of annotated lines, and lines around them that make it readable. Context: viewer.
#pragma once

#include <string>
#include <vector>

#include "viewer/analyze/annotate.h"
#include "viewer/symbol/resolve_options.h"
#include "viewer/symbol/source_files.h"

namespace varve::analyze {

/// Lines of context before and behind a line that has code or time.
inline constexpr uint32_t kContextLines = 3;

/// Reads the files, fills in the texts and adds rows for the lines around. Sentences on what is missing, or
/// younger than the program.
std::vector<std::string> add_source(Annotation& annotation, const load::Profile& profile,
                                    const symbol::SymbolTable& symbols, const symbol::SourceOptions& sources,
                                    const symbol::ResolveOptions& options);

/// Which rows are worth reading: those with time and what is at most `around` away. All of them if none has
/// time. `positions` ascend.
std::vector<bool> near_hot(const MetricTable& metrics, const std::vector<uint64_t>& positions,
                           uint64_t around = kContextLines);

}  // namespace varve::analyze
