// SPDX-License-Identifier: MIT
// Sentences on waits while processors idled. Context: viewer.
#pragma once

#include <string>

#include "viewer/analyze/band_moments.h"
#include "viewer/view/request.h"

namespace varve::view {

/// Of the locks, conditions, semaphores and barriers the one that threads waited for longest in such moments,
/// and who ended that, or the files, where that was longer; empty where it is not worth a word: below a
/// twentieth of the elapsed time. `when`: what moments those are, " while processors idled".
std::string waits_words(const Source& source, const analyze::BandMoments& moments,
                        std::string_view when = "");

/// "2.100 s of 3 threads for Condition 0x5581d0 at pool.cc:61 (run)": of one object.
std::string waited_words(const Source& source, const analyze::WaitObject& object);
/// ", mostly ended by main", ", 83% of it ended at pool.cc:70 (run)" by several threads, ", 7% of it ended by
/// main", or nothing where nobody was seen to.
std::string ended_words(const Source& source, const analyze::WaitObject& object);

inline constexpr const char* kWaitsOff = "Waits were not recorded: --waits off.";
bool waits_are_off(const load::Profile& profile);

}  // namespace varve::view
