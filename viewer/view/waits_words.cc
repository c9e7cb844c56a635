// SPDX-License-Identifier: MIT
// See waits_words.h.
// Context: viewer.
#include "viewer/view/waits_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "viewer/analyze/object_names.h"
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

std::string waited_words(const Source& source, const analyze::WaitObject& object) {
  const std::string place = analyze::caller_words(source, analyze::caller_of(source, object.first));
  return fmt::format("{} of {} for {}{}{}", seconds_words({object.wait_ns}),
                     plural(object.threads, "thread", "threads"), analyze::object_words(source, object.key),
                     place.empty() ? "" : " at ", place);
}

std::string ended_words(const Source& source, const analyze::WaitObject& object) {
  std::map<ThreadId, uint64_t> by_thread;
  std::map<std::string, uint64_t> by_place;
  for (const analyze::Holder& holder : object.holders) {
    by_thread[holder.thread] += holder.caused_ns;
    const std::string place = analyze::caller_words(source, analyze::caller_of(source, holder.path));
    if (!place.empty()) by_place[place] += holder.caused_ns;
  }
  if (by_thread.empty()) return "";
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto& [top, top_ns] = *std::ranges::max_element(by_thread, less);
  const auto place = std::ranges::max_element(by_place, less);
  const uint64_t place_ns = place == by_place.end() ? 0 : place->second;
  constexpr uint64_t kWorthNaming = 20;
  if (std::max(top_ns, place_ns) * kWorthNaming < object.wait_ns) return "";
  const std::string thread = ThreadNames(source.profile).of(top);
  const bool elsewhere =
      place_ns != 0 &&
      place->first != analyze::caller_words(source, analyze::caller_of(source, object.first));
  const std::string at = elsewhere && place_ns * 2 >= object.wait_ns ? " at " + place->first : "";
  if (top_ns * 2 >= object.wait_ns) return fmt::format(", mostly ended by {}{}", thread, at);
  // Where several threads do the same, what they do says more than which of them did most of it.
  const bool one_place = place_ns > top_ns;
  return fmt::format(", {:.0f}% of it ended {} {}", 100 * share(std::max(top_ns, place_ns), object.wait_ns),
                     one_place ? "at" : "by", one_place ? place->first : thread);
}

std::string waits_words(const Source& source, const analyze::BandMoments& moments) {
  constexpr uint64_t kWorthSaying = 20;
  const auto worst = std::ranges::find_if(moments.objects, is_shared);
  if (worst == moments.objects.end()) return "";
  if (worst->wait_ns * kWorthSaying < source.profile.session.elapsed.count) return "";
  return fmt::format("{} while processors idled{}", waited_words(source, *worst),
                     ended_words(source, *worst));
}

}  // namespace varve::view
