// SPDX-License-Identifier: MIT
// The tables of the quality view: stacks that are not whole, with the reason and where they stopped, and the
// modules, with what is missing of their names; each with its remedy. Context: viewer.
#pragma once

#include "viewer/analyze/quality.h"
#include "viewer/view/make.h"

namespace varve::view {

/// The two tables, both as one for CSV, and a note a remedy.
void add_quality_tables(const Source& source, const analyze::Quality& quality, const Request& request,
                        View& view);

}  // namespace varve::view
