// SPDX-License-Identifier: MIT
// See waits_words.h.
// Context: viewer.
#include "viewer/view/waits_words.h"

#include <fmt/format.h>

#include <algorithm>

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

std::string waited_words(const Source& source, const analyze::WaitObject& object) {
  const std::string place = caller_words(source, caller_of(source, object.first));
  return fmt::format("{} of {} for {}{}{}", seconds_words({object.wait_ns}),
                     plural(object.threads, "thread", "threads"), object_words(source, object.key),
                     place.empty() ? "" : " at ", place);
}

std::string ended_words(const Source& source, const analyze::WaitObject& object) {
  if (object.holders.empty()) return "";
  const analyze::Holder& top = object.holders.front();
  constexpr uint64_t kWorthNaming = 20;
  if (top.caused_ns * kWorthNaming < object.wait_ns) return "";
  const std::string thread = ThreadNames(source.profile).of(top.thread);
  if (top.caused_ns * 2 >= object.wait_ns) return ", mostly ended by " + thread;
  return fmt::format(", {:.0f}% of it ended by {}", 100 * share(top.caused_ns, object.wait_ns), thread);
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
