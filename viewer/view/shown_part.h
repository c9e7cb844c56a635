// SPDX-License-Identifier: MIT
// How much of a run passes the filter and the metric, in the numbers that the summary has of the whole run.
// Context: viewer.
#pragma once

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

}  // namespace varve::view
