// SPDX-License-Identifier: MIT
// How many threads ran together, and for how long: the histogram of levels with its bands, and thread level
// parallelism in three numbers. Context: viewer.
#include <fmt/format.h>

#include "viewer/analyze/tlp.h"
#include "viewer/view/band_words.h"
#include "viewer/view/make.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::Band;

Table level_table(const analyze::Concurrency& concurrency) {
  Table table;
  table.id = "levels";
  table.columns = {
      {"level", "Threads", Unit::kNumber},
      {"elapsed_ns", "Elapsed", Unit::kTime},
      {"", "Share%", Unit::kShare, false, -1, 1},
      {"", "Time", Unit::kBar, false, -1, 2},
      {"band", "Band", Unit::kText},
      {"class", "Class", Unit::kText},
  };
  const analyze::BandRule& rule = concurrency.rule;
  const std::vector<uint64_t> time = analyze::time_by_level(concurrency.levels, rule.count());
  const uint64_t all = concurrency.levels.elapsed();
  uint64_t most = 1;
  for (uint64_t each : time) most = std::max(most, each);
  for (size_t level = 0; level < time.size(); ++level) {
    const Band band = rule.of(double(level));
    // All levels up to the target, and above only those that there were.
    if (time[level] == 0 && double(level) > rule.target) continue;
    Bar bar;
    bar.parts[size_t(band)] = share(time[level], most);
    table.add({}, {uint64_t(level), time[level], share(time[level], all), bar, band_name(band),
                   class_name(analyze::class_of(level, uint64_t(rule.target + 0.5)))});
  }
  return table;
}

/// One row, an object in JSON.
Table band_table(const analyze::Concurrency& concurrency) {
  Table table;
  table.id = "bands";
  table.title = "Elapsed time by band";
  table.json = TableShape::kObject;
  const auto time = analyze::time_by_band(concurrency.levels, concurrency.rule);
  table.rows.push_back({});
  for (size_t i = 0; i < time.size(); ++i) {
    table.columns.push_back({lower_case(band_name(Band(i))) + "_ns", std::string(band_name(Band(i))),
                             Unit::kTime, false, -1, Band(i) == Band::kOk ? 1 : 0});
    table.cells.push_back(time[i]);
  }
  return table;
}

Table tlp_k_table(std::span<const double> shares) {
  Table table;
  table.id = "tlp_k";
  table.only_data = true;
  table.json = TableShape::kList;
  table.columns = {{"tlp", "", Unit::kNumber}};
  for (size_t k = 1; k < shares.size(); ++k) table.add({}, {analyze::thread_level_parallelism(shares, k)});
  return table;
}

/// What the target stands on, where that did not last.
std::string affinity_words(const load::Session& session) {
  const std::vector<analyze::Usable> rows = analyze::usable_processors(session);
  if (rows.size() < 2) return "";
  constexpr size_t kMostParts = 4;
  std::vector<std::string> parts;
  for (const analyze::Usable& row : rows)
    if (parts.size() < kMostParts)
      parts.push_back(fmt::format("{} from {:.2f} s", row.list, double(row.since_ns) / 1e9));
  return fmt::format(
      "The processors that the program might use changed while it ran: {}{}. The target is that "
      "of most of the time; --target sets another.",
      fmt::join(parts, ", "), rows.size() > kMostParts ? ", ..." : "");
}

}  // namespace

Made make_concurrency(const Source& source, const Request& request, const analyze::Selection&) {
  View view;
  const load::Profile& profile = source.profile;
  const analyze::Concurrency& concurrency = *source.concurrency;
  view.notes.push_back(source_words(profile));
  const auto text = [&](const char* label, std::string words) {
    view.facts.push_back({"", label, Unit::kText, view.own(std::move(words))});
  };
  const auto value = [&](const char* id, Unit unit, Cell cell) {
    view.facts.push_back({id, "", unit, cell});
  };
  const analyze::BandRule& rule = concurrency.rule;
  const uint64_t elapsed = concurrency.levels.elapsed();
  const std::vector<double> shares =
      analyze::level_shares(analyze::time_by_level(concurrency.levels, &analyze::Level::running),
                            size_t(concurrency.machine.processors));
  const double mu = analyze::machine_utilization(shares), tlp = analyze::thread_level_parallelism(shares);

  text("Scale", rule.scale == analyze::Scale::kConcurrency
                    ? "concurrency: threads running or ready to run"
                    : "utilization: threads running, which is processors in use");
  text("Target", fmt::format("{} of {} {}", number_words(rule.target), concurrency.machine.processors,
                             concurrency.machine.processors == 1 ? "processor" : "processors"));
  value("source", Unit::kText, source_name(profile.run_states.source));
  value("scale", Unit::kText, scale_name(rule.scale));
  value("processors", Unit::kCount, concurrency.machine.processors);
  value("target", Unit::kNumber, rule.target);
  value("elapsed_ns", Unit::kTime, elapsed);
  value("lost_switches", Unit::kCount, profile.run_states.lost);
  value("mu", Unit::kNumber, mu);
  value("tlp", Unit::kNumber, tlp);
  if (!concurrency.known()) return view;
  text("Use",
       fmt::format("{:.1f}% of the processors, {:.2f} of them while any was in use (TLP)", 100 * mu, tlp));
  add_scope_note(view, request);
  if (std::string words = affinity_words(profile.session); !words.empty())
    view.notes.push_back(std::move(words));
  view.tables.push_back(level_table(concurrency));
  view.tables.push_back(band_table(concurrency));
  view.tables.push_back(tlp_k_table(shares));
  return view;
}

}  // namespace varve::view
