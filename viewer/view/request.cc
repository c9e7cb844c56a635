// SPDX-License-Identifier: MIT
// The table of views, and what every view gets: ledger, filter, and a word on an empty profile.
// Context: viewer.
#include "viewer/view/request.h"

#include <fmt/format.h>

#include <algorithm>

#include "viewer/analyze/select_waits.h"
#include "viewer/view/band_words.h"
#include "viewer/view/empty_profile.h"
#include "viewer/view/make.h"
#include "viewer/view/metrics.h"
#include "viewer/view/rows.h"
#include "viewer/view/summary_words.h"

namespace varve::view {
namespace {

/// What was cut, as options.
std::string cut_words(const Request& request) {
  if (request.metric == analyze::kCpu || request.metric == analyze::kWait) return request.filter_words;
  return std::string("--metric ") + metric_kind(request.metric).name +
         (request.filter_words.empty() ? "" : " ") + request.filter_words;
}

/// A range of time that begins behind the end is told from a filter that nothing matches. In a range in which
/// nothing ran threads may have waited all the same.
std::string nothing_passes_words(const load::Profile& profile, const Request& request) {
  const Nanos elapsed = profile.session.elapsed;
  if (elapsed.count != 0 && request.filter.from >= elapsed)
    return "Nothing passes the filter: the recording ended after " + seconds_words(elapsed) + ".";
  return fmt::format("No {} passes the filter.", request.metric == analyze::kWait ? "Wait time" : "CPU time");
}

}  // namespace

constexpr By kWaitsBy[] = {By::kFunction, By::kThread, By::kObject, By::kCallPath};
constexpr By kPathBy[] = {By::kFunction, By::kThread, By::kObject};
constexpr By kTimelineBy[] = {By::kObject};

std::span<const Kind> kinds() {
  static constexpr Kind kTable[] = {
      {"summary", "the run in numbers, its hottest functions, and whether the data can be trusted", false,
       OfWaits::kNothing, make_summary},
      {"hotspots", "functions by the CPU time spent in themselves", false, OfWaits::kByMetric, make_hotspots},
      {"top-down", "the call tree, from the start of each thread downwards", true, OfWaits::kByMetric,
       make_top_down},
      {"bottom-up", "functions by self time, and below each who called it", true, OfWaits::kByMetric,
       make_bottom_up},
      {"callers", "one function, who calls it and whom it calls", false, OfWaits::kByMetric, make_callers},
      {"threads", "CPU time by thread", false, OfWaits::kByMetric, make_threads},
      {"processes", "CPU time by process", false, OfWaits::kByMetric, make_processes},
      {"programs", "CPU time by program, of all processes that ran it", false, OfWaits::kByMetric,
       make_programs},
      {"modules", "CPU time by program file and library", false, OfWaits::kByMetric, make_modules},
      {"lines", "CPU time by source line", false, OfWaits::kByMetric, make_lines},
      {"concurrency", "how long how many threads ran together, and the bands of that", false,
       OfWaits::kNothing, make_concurrency},
      {"tlp", "thread level parallelism of the run and of each process", false, OfWaits::kNothing, make_tlp},
      {"waits", "locks and waits: what threads waited for, how long, and who had it", false, OfWaits::kAlways,
       make_waits, true, kWaitsBy},
      {"idle", "why processors idled: what ran meanwhile, for what the others waited, and who ended that",
       false, OfWaits::kAlways, make_idle, true},
      {"timeline", "what each thread did over time: ran, was ready, or waited and for what", false,
       OfWaits::kNothing, make_timeline, false, kTimelineBy},
      {"critical-path", "the longest flow of execution over all threads: what the run took so long for",
       false, OfWaits::kNothing, make_critical_path, false, kPathBy},
      {"quality", "whole and broken stacks, missing names, losses, and what to do about them", false,
       OfWaits::kNothing, make_quality},
  };
  return kTable;
}

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

Prepared prepare(const Source& source, const Request& request) {
  Prepared prepared{analyze::concurrency(source.profile, request.filter, request.bands), {}};
  prepared.selection =
      request.metric == analyze::kWait
          ? analyze::select_waits(source.profile, source.symbols, request.filter, prepared.concurrency)
          : analyze::select(source.profile, source.symbols, request.filter, prepared.concurrency,
                            request.metric);
  return prepared;
}

namespace {

/// CPU time is for no object, so all of it passes: how much the filter leaves is told of the waits.
void tell_of_waits(View& view, const analyze::Ledger& waits) {
  view.ledger = waits;
  view.metric = analyze::kWait;
}

/// Of a view that cannot have waits in place of CPU time.
Made make_of_cpu(const Kind& kind, const Source& source, const Request& request,
                 const analyze::Selection& waits) {
  Request of_cpu = request;
  of_cpu.metric = analyze::kCpu;
  if (kind.waits == OfWaits::kNothing) of_cpu.filter.object = {};
  Made made = make(kind, source, of_cpu);
  if (made && request.filter.object.given() && kind.waits == OfWaits::kNothing) {
    made->notes.push_back("Only waits are for objects: --object changes nothing here.");
    made->whole_run |= kind.make == make_critical_path;
  }
  if (made && request.metric != analyze::kWait)
    made->notes.push_back(
        fmt::format("--metric {} changes nothing here: these are waits.", metric_kind(request.metric).name));
  if (made && request.filter.object.given() && kind.waits == OfWaits::kAlways)
    tell_of_waits(*made, analyze::ledger(source.profile, waits));
  return made;
}

/// Views that list damages one by one, or count them.
bool tells_of_damages(const Kind& kind) { return kind.make == make_summary || kind.make == make_quality; }

void add_common_notes(View& view, const Kind& kind, const Source& source, const Request& request) {
  const size_t damages = source.profile.damages.size();
  if (damages != 0 && !tells_of_damages(kind))
    view.notes.push_back(fmt::format(
        "{} of this profile: what could not be read is missing here. varve report quality names it.",
        plural(damages, "damage", "damages")));
  const auto tells = [&](std::string_view words) {
    return std::ranges::any_of(
        view.notes, [&](const std::string& note) { return note.find(words) != std::string::npos; });
  };
  if (source.concurrency->banded || source.of_waits) {
    const std::string end = states_end_words(source.profile), paused = paused_words(source.profile);
    if (!end.empty() && kind.make != make_quality && !tells(end))
      view.notes.push_back(fmt::format(
          "Run states end after {}: what came later is in no band, and of waits only counted.", end));
    if (!paused.empty() && !tells_of_damages(kind) && !tells("What was paused"))
      view.notes.push_back(fmt::format("What was paused, {}, is in no band; waits go on in it.", paused));
    const uint64_t lost = source.profile.run_states.lost;
    if (lost != 0 && !tells_of_damages(kind) && !tells("Run states come from switches"))
      view.notes.push_back(fmt::format(
          "{} records of context switches were lost: bands, waits and what threads did are not exact.",
          lost));
  }
  if (kind.make != make_idle && request.explained != analyze::kIdleAndPoor)
    view.notes.push_back("--band is for varve report idle and changes nothing here.");
  if (const MetricKind& metric = metric_kind(request.metric); metric.metric != analyze::kCpu)
    view.notes.push_back(fmt::format("{}: {}.", metric.title, metric.meaning));
}

}  // namespace

Made make(const Kind& kind, const Source& source, const Request& request) {
  return make(kind, source, request, prepare(source, request));
}

Made make(const Kind& kind, const Source& source, const Request& request, const Prepared& prepared) {
  if (std::string trouble = metric_trouble(source.profile, request);
      !trouble.empty() && kind.waits != OfWaits::kAlways)
    return tl::unexpected(std::move(trouble));
  const bool only_waits = kind.make == make_waits && request.metric != analyze::kCpu;
  if (only_waits || (request.metric == analyze::kWait && kind.waits != OfWaits::kByMetric))
    return make_of_cpu(kind, source, request, prepared.selection);
  const Source observed{source.profile, source.symbols, &prepared.concurrency,
                        request.metric == analyze::kWait, source.path};
  const analyze::Selection& selection = prepared.selection;
  const analyze::Ledger ledger = analyze::ledger(source.profile, selection);
  const bool nothing_left = selection.kept[analyze::kCpu] == 0 && selection.filtered_out[analyze::kCpu] != 0;
  Made made = kind.make(observed, request, selection);
  if (!made) return made;
  made->name = kind.name;
  made->ledger = ledger;
  made->metric = request.metric;
  made->filter = cut_words(request);
  add_common_notes(*made, kind, observed, request);
  if (nothing_left && kind.waits != OfWaits::kAlways)
    made->notes.push_back(nothing_passes_words(source.profile, request));
  for (std::string& reason : why_empty(source.profile)) made->notes.push_back(std::move(reason));
  return made;
}

}  // namespace varve::view
