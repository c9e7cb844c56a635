// SPDX-License-Identifier: MIT
// Bands: how well a level uses the processors (Idle, Poor, Ok, Ideal, Over), on one of two scales that are
// never mixed, and the band of the moment of each CPU sample. Thresholds belong to the reader of a profile
// and are no part of it. Context: viewer.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "viewer/analyze/levels.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

enum class Band : uint8_t { kIdle, kPoor, kOk, kIdeal, kOver, kUnknown };
inline constexpr size_t kBands = 5;  // without kUnknown
using BandSet = std::array<bool, kBands>;
inline constexpr BandSet kAllBands = {true, true, true, true, true};
inline constexpr BandSet kIdleAndPoor = {true, true};

enum class Scale : uint8_t {
  kConcurrency,  // threads running or ready
  kUtilization,  // threads running: processors in use. Never Over.
};

/// A level against the number of processors: Idle (0), Serial (1), Undersubscribed (2 to n - 1), Parallel
/// (n), Oversubscribed (more).
enum class LevelClass : uint8_t { kIdle, kSerial, kUndersubscribed, kParallel, kOversubscribed };
LevelClass class_of(uint64_t level, uint64_t processors);

struct BandRule {
  Scale scale = Scale::kConcurrency;
  double target = 1;                              // threads
  std::array<double, 3> thresholds{50, 85, 115};  // percent of the target: the highest of Poor, Ok and Ideal

  /// Of a level in threads. Below half a thread nothing runs.
  Band of(double level) const;
  uint64_t Level::*count() const { return scale == Scale::kConcurrency ? &Level::active : &Level::running; }
};

/// Processors that threads of the run could use since a time of it, by their affinity.
struct Usable {
  uint64_t since_ns = 0;  // since the start of the run
  uint64_t cores = 0;     // physical ones among them; 0: not known
  std::string_view list;  // "0-3,8"
};
/// What the observer saw, in the order of time; else what the recorder could use when it began.
std::vector<Usable> usable_processors(const load::Session& session);

/// Processors the recorded program could use, from its affinity and its cgroup, and physical cores among
/// them. 1 where a profile does not say. Where its affinity changed, what held longest.
struct Machine {
  uint64_t processors = 1;
  double usable = 1;  // min(processors in the affinity mask, cgroup limit)
  double cores = 1;   // physical cores among those
};
Machine machine_of(const load::Session& session);

/// The target that a scale has unless the user sets one.
double default_target(const Machine& machine, Scale scale);

/// Elapsed time by Band, of the range of the levels.
std::array<uint64_t, kBands> time_by_band(const Levels& levels, const BandRule& rule);

/// Whether it is the path of CPU time that was used while recording was paused, or whose samples are lost.
/// Paused time is no time of a band or level; a row of lost time stands at the end of its thread, and for no
/// moment.
bool has_no_moment(const load::Profile& profile, PathId path);

/// A row each of Profile::samples: the band of its moment. A sample runs, so it is never Idle; kUnknown
/// outside of the observed time, and for time that no moment stands for.
std::vector<Band> band_of_samples(const load::Profile& profile, const Levels& levels, const BandRule& rule);

}  // namespace varve::analyze
