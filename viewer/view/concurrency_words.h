// SPDX-License-Identifier: MIT
// What the levels of a run say in sentences, from the numbers alone. Context: viewer.
#pragma once

#include <string>
#include <vector>

#include "viewer/view/request.h"

namespace varve::view {

/// At most one sentence for each way in which a tenth of the run or more did not suit its processors, the
/// largest first; one that says so where none did. Empty where run states are not known.
std::vector<std::string> concurrency_sentences(const Source& source, const Request& request,
                                               const analyze::Selection& selection);

}  // namespace varve::view
