// SPDX-License-Identifier: MIT
// The lines of the summary that are about numbers, as words. Under a filter each says of what it is: CPU time
// and samples name what passes and the whole, and what is only known of the whole run is said to be so.
// Context: viewer.
#pragma once

#include <string>
#include <string_view>

#include "viewer/analyze/quality.h"
#include "viewer/view/shown_part.h"

namespace varve::view {

std::string seconds_words(Nanos time);
/// Of the time in code, the share in functions without a name.
double unnamed_share(const analyze::Quality& quality);

/// `shown` is null where nothing is filtered.
std::string cpu_words(const load::Session& session, Nanos cpu, const ShownPart* shown);
std::string samples_words(const load::Profile& profile, const ShownPart* shown);
/// How many samples the agents lost, "3 lost", and the CPU time of what is lost in whatever way, if there is
/// any.
std::string lost_words(const load::Profile& profile, std::string_view noun);
std::string quality_words(const load::Profile& profile, const analyze::Quality& quality, Nanos cpu,
                          bool filtered);

}  // namespace varve::view
