// SPDX-License-Identifier: MIT
// How much of a run passes the filter and the metric, in the numbers that the summary has of the whole run.
// Context: viewer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viewer/view/request.h"

namespace varve::view {

struct ShownPart {
  Nanos elapsed;  // of the time that passes; 0 where the end of the run is not known
  Nanos cpu;
  uint64_t samples = 0;
  uint64_t threads = 0, processes = 0;  // with any CPU time that passes
};
ShownPart shown_part(const load::Profile& profile, const Request& request,
                     const analyze::Selection& selection);

/// Processes of the run, or those with a thread among `threads`, a row each of Profile::threads.
uint64_t count_processes(const load::Profile& profile, const std::vector<bool>& threads);
uint64_t count_processes(const load::Profile& profile);
/// Of images, a row each of Profile::processes.
uint64_t count_processes_of(const load::Profile& profile, const std::vector<bool>& images);

/// Why a list has more rows than there are threads or processes, as a note below it; empty where it has not.
std::string more_rows_words(uint64_t rows, uint64_t things, std::string_view one, std::string_view many);
/// Of a list of threads: those that have rows, a row each of Profile::threads.
std::string more_rows_words(const load::Profile& profile, const std::vector<bool>& threads);

}  // namespace varve::view
