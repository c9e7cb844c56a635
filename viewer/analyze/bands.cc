// SPDX-License-Identifier: MIT
// See bands.h.
// Context: viewer.
#include "viewer/analyze/bands.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "common/session_keys.h"

namespace varve::analyze {
namespace {

constexpr uint64_t kMostProcessors = load::RunEvent::kMostProcessors;

/// The number that `text` begins with, at most kMostNumber. Nothing where it begins with none.
constexpr uint64_t kMostNumber = UINT32_MAX;
std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || number > kMostNumber) return std::nullopt;
  return number;
}

/// What stands before `separator`, which is taken off `text` with it.
std::string_view take(std::string_view& text, char separator) {
  const std::string_view taken = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

/// Processors of "0-3,8"; 0 where it says nothing.
uint64_t count_list(std::string_view list) {
  uint64_t count = 0;
  while (!list.empty()) {
    std::string_view part = take(list, ',');
    const bool is_range = part.find('-') != std::string_view::npos;
    const auto first = number_of(take(part, '-')), last = is_range ? number_of(part) : first;
    if (first && last && *last >= *first && *last < kMostProcessors) count += *last - *first + 1;
  }
  return std::min(count, kMostProcessors);
}

/// The row that held longest until the end of the run.
const Usable& longest(const std::vector<Usable>& rows, uint64_t end_ns) {
  size_t found = 0;
  uint64_t most = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint64_t until = i + 1 < rows.size() ? rows[i + 1].since_ns : std::max(end_ns, rows[i].since_ns);
    const uint64_t held = until - std::min(until, rows[i].since_ns);
    if (held > most) found = i, most = held;
  }
  return rows[found];
}

}  // namespace

std::vector<Usable> usable_processors(const load::Session& session) {
  std::vector<Usable> rows;
  for (const auto& [key, value] : session.texts) {
    if (key != session_key::kUsable) continue;
    std::string_view text = value;
    const std::string_view since = take(text, ' '), cores = take(text, ' ');
    Usable row;
    std::from_chars(since.data(), since.data() + since.size(), row.since_ns);
    row.cores = number_of(cores).value_or(0);
    row.list = text;
    if (count_list(row.list)) rows.push_back(row);
  }
  if (rows.empty())
    rows.push_back({0, session.number(session_key::kCores), session.text(session_key::kAffinity)});
  return rows;
}

LevelClass class_of(uint64_t level, uint64_t processors) {
  if (level == 0) return LevelClass::kIdle;
  if (level > processors) return LevelClass::kOversubscribed;
  if (level == processors) return LevelClass::kParallel;
  return level == 1 ? LevelClass::kSerial : LevelClass::kUndersubscribed;
}

Band BandRule::of(double level) const {
  if (level < 0.5) return Band::kIdle;
  double percent = 100 * level / target;
  // Thresholds are whole percents in the field's tables: 85 ends Ok, and 85.3 still is Ok.
  percent = std::floor(percent + 1e-9);
  if (percent <= thresholds[0]) return Band::kPoor;
  if (percent <= thresholds[1]) return Band::kOk;
  return percent <= thresholds[2] || scale == Scale::kUtilization ? Band::kIdeal : Band::kOver;
}

Machine machine_of(const load::Session& session) {
  Machine machine;
  machine.processors = std::clamp<uint64_t>(session.processors, 1, kMostProcessors);
  const std::vector<Usable> rows = usable_processors(session);
  const Usable& row = longest(rows, session.elapsed.count);
  const uint64_t allowed = count_list(row.list);
  machine.usable = double(allowed ? allowed : machine.processors);
  machine.cores = row.cores ? std::min(double(row.cores), machine.usable) : machine.usable;
  std::string_view limit = session.text(session_key::kCgroupCpuMax);
  const auto quota = double(number_of(take(limit, ' ')).value_or(0));
  const auto period = double(number_of(take(limit, ' ')).value_or(0));
  if (quota > 0 && period > 0) {
    machine.usable = std::min(machine.usable, quota / period);
    machine.cores = std::min(machine.cores, quota / period);
  }
  return machine;
}

double default_target(const Machine& machine, Scale scale) {
  return scale == Scale::kConcurrency ? machine.cores : machine.usable;
}

std::array<uint64_t, kBands> time_by_band(const Levels& levels, const BandRule& rule) {
  std::array<uint64_t, kBands> time{};
  std::vector<uint64_t> by_level = time_by_level(levels, rule.count());
  for (size_t level = 0; level < by_level.size(); ++level)
    time[size_t(rule.of(double(level)))] += by_level[level];
  return time;
}

bool has_no_moment(const load::Profile& profile, PathId path) {
  const SiteId site = profile.paths[path.index()].site;
  if (!site.valid() || !profile.sites[site.index()].special()) return false;
  const load::SpecialSite kind = profile.sites[site.index()].kind();
  return kind == load::SpecialSite::kPaused || kind == load::SpecialSite::kLost;
}

std::vector<Band> band_of_samples(const load::Profile& profile, const Levels& levels, const BandRule& rule) {
  const load::Samples& samples = profile.samples;
  std::vector<Band> bands(samples.size(), Band::kUnknown);
  if (!levels.known()) return bands;
  std::vector<Band> of_row;
  for (const Level& level : levels.rows())
    of_row.push_back(
        rule.of(std::max(1.0, std::round(double(level.*rule.count()) / load::RunEvent::kWhole))));
  // Samples of a thread follow each other in time, so the search begins where the last one ended.
  size_t row = 0;
  const auto& rows = levels.rows();
  for (size_t i = 0; i < samples.size(); ++i) {
    uint64_t time = samples.time_ns[i];
    const TimeRange& range = levels.range();
    if (!samples.thread[i].valid() || has_no_moment(profile, samples.path[i])) continue;
    if (time + kNearNs < range.begin || time > range.end + kNearNs) continue;
    time = std::clamp(time, range.begin, range.end - 1);
    bool forward = rows[row].time_ns <= time;
    auto first = forward ? rows.begin() + ptrdiff_t(row) : rows.begin();
    size_t near = std::min<size_t>(row + 64, rows.size());
    auto last = forward && near < rows.size() && rows[near].time_ns > time ? rows.begin() + ptrdiff_t(near)
                                                                           : rows.end();
    row = size_t(std::upper_bound(first, last, time,
                                  [](uint64_t at, const Level& level) { return at < level.time_ns; }) -
                 rows.begin()) -
          1;
    bands[i] = of_row[row];
  }
  return bands;
}

}  // namespace varve::analyze
