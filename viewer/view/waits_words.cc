// SPDX-License-Identifier: MIT
// See waits_words.h.
// Context: viewer.
#include "viewer/view/waits_words.h"

#include <fmt/format.h>

#include "viewer/analyze/wait_objects.h"
#include "viewer/view/object_words.h"
#include "viewer/view/path_words.h"
#include "viewer/view/rows.h"
#include "viewer/view/summary_words.h"

namespace varve::view {
namespace {

/// What threads of the program have in common. That one waits for another's end is how programs are, and
/// nobody ended the wait of a thread that had nothing to do all the time.
bool is_shared(const analyze::WaitObject& object) {
  return format::is_released(object.key.kind) && !object.holders.empty();
}

}  // namespace

std::string waits_words(const Source& source, const Request& request) {
  constexpr uint64_t kWorthSaying = 20;
  const load::Profile& profile = source.profile;
  const auto counted =
      analyze::counted_waits(profile, analyze::time_range(profile, request.filter), *source.concurrency);
  const auto objects = analyze::wait_objects(
      profile, analyze::waits_that_pass(profile, source.symbols, request.filter, counted));
  const auto worst = std::ranges::find_if(objects, is_shared);
  if (worst == objects.end()) return "";
  if (worst->poorly_used_ns() * kWorthSaying < profile.session.elapsed.count) return "";
  const std::string place = caller_words(source, caller_of(source, worst->first));
  return fmt::format("{} of {} for {}{}{} while processors idled, mostly ended by {}",
                     seconds_words({worst->poorly_used_ns()}), plural(worst->threads, "thread", "threads"),
                     object_words(profile, worst->key), place.empty() ? "" : " at ", place,
                     ThreadNames(profile).of(worst->holders.front().thread));
}

}  // namespace varve::view
