// SPDX-License-Identifier: MIT
// The field's words for bands, classes of levels, states and sources of run states, and the letters of a
// timeline. Context: viewer.
#pragma once

#include <string>
#include <string_view>

#include "viewer/analyze/bands.h"
#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/timeline.h"
#include "viewer/view/request.h"

namespace varve::view {

std::string_view band_name(analyze::Band band);
/// "poor" of "Poor", for keys.
std::string lower_case(std::string_view name);
std::string_view class_name(analyze::LevelClass level_class);
std::string_view scale_name(analyze::Scale scale);
std::string_view source_name(load::RunStates::Source source);

/// One letter of view::Unit::kStrip for what a thread did in a slice.
char state_letter(analyze::SliceState state);
/// What a letter of a strip stands for; empty for one that is none.
std::string_view letter_meaning(char letter);

/// "2 of 8 processors", "1.5": a target without needless digits.
std::string number_words(double number);

/// Why there are none and what to do, to go on with after "... were not recorded".
std::string unknown_states_words(const load::Profile& profile);

/// "0.52 of 3.00 s" where they end before the run does, with why; otherwise empty.
std::string states_end_words(const load::Profile& profile);

/// "1.00 of 2.62 s" of the observed run, where it was paused; otherwise empty.
std::string paused_words(const load::Profile& profile);

/// One sentence on where the run states come from and how exact they are, or why there are none.
std::string source_words(const load::Profile& profile);

/// Whether levels are of more threads than what is shown: some filters do not change them.
bool levels_are_of_all(const Request& request);
/// Says that levels are of all threads, where a filter could make one think otherwise.
void add_scope_note(View& view, const Request& request);

}  // namespace varve::view
