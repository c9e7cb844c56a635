// SPDX-License-Identifier: MIT
// See waits_words.h.
// Context: viewer.
#include "viewer/view/waits_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/session_keys.h"
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

/// A disk is a reason too, and many files may lie there.
struct FileWaits {
  uint64_t wait_ns = 0;
  std::vector<const analyze::WaitObject*> files;  // the worst first
};
FileWaits file_waits(const analyze::BandMoments& moments) {
  FileWaits sum;
  for (const analyze::WaitObject& object : moments.objects) {
    if (!object.is_file) continue;
    sum.wait_ns += object.wait_ns;
    sum.files.push_back(&object);
  }
  std::ranges::stable_sort(sum.files, std::greater(), &analyze::WaitObject::wait_ns);
  return sum;
}

/// ", 88% of it at read_tile", of the place with most of the time.
std::string worst_place_words(const Source& source, const FileWaits& files) {
  std::map<PathId, uint64_t> by_path;
  for (const analyze::WaitObject* file : files.files) by_path[file->first] += file->wait_ns;
  std::map<std::string, uint64_t> by_place;
  for (const auto& [path, ns] : by_path)
    by_place[analyze::caller_words(source, analyze::caller_of(source, path))] += ns;
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto& [place, ns] = *std::ranges::max_element(by_place, less);
  return place.empty() ? "" : fmt::format(", {:.0f}% of it at {}", 100 * share(ns, files.wait_ns), place);
}

/// The worst file where it is a good part of all, else where the program waits for most of them.
std::string files_words(const Source& source, const FileWaits& files, std::string_view when) {
  constexpr uint64_t kGoodPart = 5;
  const analyze::WaitObject& worst = *files.files.front();
  if (files.files.size() == 1) return fmt::format("{}{}", waited_words(source, worst), when);
  const std::string more = worst.wait_ns * kGoodPart >= files.wait_ns ? ", " + waited_words(source, worst)
                                                                      : worst_place_words(source, files);
  return fmt::format("{} for files{}{}", seconds_words({files.wait_ns}), when, more);
}

}  // namespace

bool waits_are_off(const load::Profile& profile) {
  return profile.session.text(session_key::kWaitMinNs) == "0";
}

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
  // Of short waits only some have a record of who ended them.
  // Where several threads do the same, what they do says more than which of them did most of it.
  const bool one_place = place_ns > top_ns;
  return fmt::format(", at least {:.0f}% of it ended {} {}",
                     100 * share(std::max(top_ns, place_ns), object.wait_ns), one_place ? "at" : "by",
                     one_place ? place->first : thread);
}

std::string waits_words(const Source& source, const analyze::BandMoments& moments, std::string_view when) {
  constexpr uint64_t kWorthSaying = 20;
  const auto worst = std::ranges::find_if(moments.objects, is_shared);
  const uint64_t shared_ns = worst == moments.objects.end() ? 0 : worst->wait_ns;
  const FileWaits files = file_waits(moments);
  const uint64_t most_ns = std::max(shared_ns, files.wait_ns);
  if (most_ns == 0 || most_ns * kWorthSaying < source.profile.session.elapsed.count) return "";
  if (files.wait_ns > shared_ns) return files_words(source, files, when);
  return fmt::format("{}{}{}", waited_words(source, *worst), when, ended_words(source, *worst));
}

}  // namespace varve::view
