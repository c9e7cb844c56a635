// SPDX-License-Identifier: MIT
// What the levels of a run say in sentences, from the numbers alone. Context: viewer.
#pragma once

#include <string>
#include <vector>

#include "viewer/analyze/band_moments.h"
#include "viewer/view/request.h"

namespace varve::view {

/// At most one sentence for each way in which a tenth of the run or more did not suit its processors, the
/// largest first; one that says so where none did. Empty where run states are not known.
std::vector<std::string> concurrency_sentences(const Source& source, const Request& request,
                                               const analyze::Selection& selection,
                                               const analyze::BandMoments& moments);

/// "; 81% of that CPU time in load_scene (main thread)": where the time in a column of bands was spent.
/// Nothing where no sample fell into the band.
std::string where_words(const Source& source, const Request& request, const analyze::Selection& selection,
                        size_t metric);

/// What the levels are judged against.
struct Target {
  std::string were;  // "4 cores were available", "the target was 2"
  std::string the;   // "the 4 cores", "the target of 2"
};
Target target_of(const analyze::Concurrency& concurrency, const Request& request);

}  // namespace varve::view
