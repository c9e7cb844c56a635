// SPDX-License-Identifier: MIT
// The options that may be changed while looking at a profile, as `varve report` has them: what the command
// line of a screen understands. Context: viewer.
#pragma once

#include "viewer/report_options.h"

namespace varve {

/// Limits, filters, bands: rows for a table of options.
Options narrow_options(ReportOptions& options);

/// "--thread": all of them, for completion.
std::vector<std::string> narrow_option_names();

/// Reads "--thread", "worker" on top of what the request has. The error is a sentence.
tl::expected<void, std::string> read_narrow_options(const std::vector<std::string>& words,
                                                    view::Request& request);

/// Limits as given; a screen scrolls, so nothing is cut unless asked for.
void apply_limits(ReportOptions& options);

}  // namespace varve
