// SPDX-License-Identifier: MIT
// The makers of views, one a screen; request.cc lists them.
// Context: viewer.
#pragma once

#include "viewer/view/request.h"

namespace varve::view {

Made make_summary(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_hotspots(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_top_down(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_bottom_up(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_annotation(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_callers(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_threads(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_programs(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_processes(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_modules(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_lines(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_concurrency(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_tlp(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_timeline(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_idle(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_waits(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_critical_path(const Source& source, const Request& request, const analyze::Selection& selection);
Made make_quality(const Source& source, const Request& request, const analyze::Selection& selection);

}  // namespace varve::view
