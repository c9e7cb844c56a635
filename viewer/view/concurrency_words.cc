// SPDX-License-Identifier: MIT
// See concurrency_words.h.
// Context: viewer.
#include "viewer/view/concurrency_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "viewer/analyze/attribute.h"
#include "viewer/analyze/thread_states.h"
#include "viewer/view/band_words.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::Band;

/// Of the run, for a sentence to be worth its line.
constexpr double kShareWorthSaying = 0.1;

std::string seconds(uint64_t ns) {
  return fmt::format("{:.{}f}", double(ns) / 1e9, ns < 10'000'000'000 ? 2 : 1);
}

/// How near to the root each function occurs, in frames; inlined ones lie below what they are inlined into.
std::vector<uint32_t> depths(const load::Profile& profile, const analyze::SiteKeys& keys) {
  std::vector<uint32_t> of_path(profile.paths.size()), of_key(keys.count, UINT32_MAX);
  for (size_t i = 1; i < of_path.size(); ++i) {
    of_path[i] = of_path[profile.paths[i].parent.index()];
    for (const uint32_t key : keys.of(profile.paths[i].site))
      of_key[key] = std::min(of_key[key], ++of_path[i]);
  }
  return of_key;
}

/// The innermost of the functions with at least half of the time in `metric`, or else the one with most of it
/// in itself: where to look first.
struct Place {
  FunctionId function;
  double share = 0;
  bool below = false;  // the share has what it calls, too
};
Place place_of(const analyze::Flat& flat, const symbol::SymbolTable& symbols,
               const std::vector<uint32_t>& depth, size_t metric, uint64_t whole_ns) {
  uint32_t inner = UINT32_MAX, hottest = 0;
  for (uint32_t i = 0; i < symbols.functions.size(); ++i) {
    if (symbols.functions[i].source == symbol::NameSource::kSpecial) continue;  // no place to look at
    if (flat.self.at(i, metric) > flat.self.at(hottest, metric)) hottest = i;
    if (flat.total.at(i, metric) * 2 < whole_ns) continue;
    const bool nearer = inner == UINT32_MAX || flat.total.at(i, metric) < flat.total.at(inner, metric) ||
                        (flat.total.at(i, metric) == flat.total.at(inner, metric) && depth[i] > depth[inner]);
    if (nearer) inner = i;
  }
  if (inner != UINT32_MAX)
    return {{inner},
            share(flat.total.at(inner, metric), whole_ns),
            flat.self.at(inner, metric) < flat.total.at(inner, metric)};
  return {{hottest}, share(flat.self.at(hottest, metric), whole_ns)};
}

}  // namespace

std::string where_words(const Source& source, const Request& request, const analyze::Selection& selection,
                        size_t metric) {
  const uint64_t in_band = selection.kept[metric];
  if (in_band == 0 || source.symbols.functions.empty()) return "";
  const auto keys = analyze::function_keys(source.profile, source.symbols, request.inlines);
  const analyze::Flat& flat = selection.functions(source.profile, source.symbols, request.inlines);
  const Place place = place_of(flat, source.symbols, depths(source.profile, keys), metric, in_band);
  size_t busiest = 0;
  for (size_t i = 0; i < source.profile.threads.size(); ++i)
    if (selection.by_thread.at(i, metric) > selection.by_thread.at(busiest, metric)) busiest = i;
  // The share is that of the function in all threads, so one of them is named where the others do not count.
  constexpr double kNearlyAll = 0.9;
  std::string thread;
  if (share(selection.by_thread.at(busiest, metric), in_band) > kNearlyAll) {
    const load::Thread& row = source.profile.threads[busiest];
    thread = fmt::format(" ({})", row.is_main ? "main thread" : "thread " + row.name);
  }
  if (place.share < kShareWorthSaying) return "";
  const Nanos all = source.profile.sampled + source.profile.residual + source.profile.unsampled;
  const bool all_seen = share(source.profile.unsampled.count, all.count) < kShareWorthSaying;
  return fmt::format("; {}{:.0f}% of {} CPU time in {}{}{}", request.cuts() ? "as filtered, " : "",
                     100 * place.share, all_seen ? "that" : "the sampled",
                     std::get<std::string_view>(function_cells(source, place.function).short_name),
                     place.below ? " and below" : "", thread);
}

namespace {

/// Threads that could run and had no processor: too many of them, or others' programs on the machine. Those
/// of the levels, so of all threads of the processes that pass.
std::string ready_words(const Source& source, const analyze::Filter& filter, bool too_many) {
  uint64_t running = 0, ready = 0;
  const auto states = analyze::settled_states(source.profile, source.concurrency->levels.range());
  for (size_t i = 0; i < states.size(); ++i) {
    if (!analyze::process_passes(source.profile, source.profile.threads[i].process, filter)) continue;
    running += states[i].running_ns;
    ready += states[i].ready_ns;
  }
  constexpr uint64_t kLeast = 5'000'000;  // less is 0.00 s
  if (share(ready, running + ready) < kShareWorthSaying || ready < kLeast) return "";
  return fmt::format("Threads that ran for {} s waited {} s more for a processor{}", seconds(running),
                     seconds(ready), too_many ? "" : ", which other programs had");
}

}  // namespace

Target target_of(const analyze::Concurrency& concurrency, const Request& request) {
  const std::string number = number_words(concurrency.rule.target);
  if (request.bands.target) return {"the target was " + number, "the target of " + number};
  const bool one = concurrency.rule.target == 1;
  const bool cores = concurrency.rule.scale == analyze::Scale::kConcurrency &&
                     concurrency.machine.cores < concurrency.machine.usable;
  const std::string words = fmt::format("{} {}{}", number, cores ? "core" : "processor", one ? "" : "s");
  return {fmt::format("{} {} available", words, one ? "was" : "were"), "the " + words};
}

std::vector<std::string> concurrency_sentences(const Source& source, const Request& request,
                                               const analyze::Selection& selection,
                                               const analyze::BandMoments& moments) {
  const analyze::Concurrency& concurrency = *source.concurrency;
  if (!concurrency.known() || moments.elapsed_ns == 0) return {};
  const auto& time = moments.by_band;
  const uint64_t elapsed = moments.elapsed_ns;
  const std::string of_all = fmt::format(" of {} s", seconds(elapsed));
  const uint64_t most_poor = moments.active[size_t(Band::kPoor)].most;

  const Target target = target_of(concurrency, request);
  struct Said {
    uint64_t ns;
    std::string words;
  };
  std::vector<Said> said;
  const auto say = [&](Band band, std::string words) {
    const uint64_t ns = time[size_t(band)];
    if (share(ns, elapsed) >= kShareWorthSaying) said.push_back({ns, std::move(words)});
  };
  say(Band::kIdle, " had no thread active");
  say(Band::kPoor, fmt::format(" had {} active while {}{}",
                               most_poor <= 1 ? "one thread" : fmt::format("{} threads or fewer", most_poor),
                               target.were, where_words(source, request, selection, analyze::kPoor)));
  say(Band::kOver, " had more threads to run than " + target.the);
  std::stable_sort(said.begin(), said.end(), [](const Said& a, const Said& b) { return a.ns > b.ns; });
  std::vector<std::string> sentences;
  for (const Said& each : said)
    sentences.push_back(seconds(each.ns) + (sentences.empty() ? of_all : " s") + each.words);
  if (sentences.empty())
    sentences.push_back(fmt::format("{}{} had about as many threads active as suit {}",
                                    seconds(time[size_t(Band::kOk)] + time[size_t(Band::kIdeal)]), of_all,
                                    target.the));
  const bool too_many = time[size_t(Band::kOver)] != 0;
  if (std::string waited = ready_words(source, request.filter, too_many); !waited.empty())
    sentences.push_back(std::move(waited));
  return sentences;
}

}  // namespace varve::view
