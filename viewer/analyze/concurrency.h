// SPDX-License-Identifier: MIT
// Concurrency: the levels of a run, or of the processes that a filter leaves, with the rule that judges them
// and the band of every sample. What the views need, made once a report. Context: viewer.
#pragma once

#include <optional>
#include <vector>

#include "viewer/analyze/bands.h"
#include "viewer/analyze/filter.h"

namespace varve::analyze {

/// What the reader of a profile may choose.
struct BandOptions {
  Scale scale = Scale::kConcurrency;
  std::optional<double> target;  // threads; else default_target()
  std::array<double, 3> thresholds = BandRule().thresholds;
};

struct Concurrency {
  Machine machine;
  BandRule rule;
  Levels levels;                // of the processes that pass, in the time that passes
  std::vector<bool> tracks;     // a row each of RunStates::tracks: whether it belongs to those processes
  bool banded = false;          // whether samples have bands; of the whole run, so known() without it is none
  std::vector<Band> of_sample;  // a row each of Profile::samples; empty where nothing was observed

  bool known() const { return levels.known(); }
  PassTrack passes() const {
    return [this](TrackId track) { return bool(tracks[track.index()]); };
  }
  /// Adds the weight of a sample to the column of its band. `numbers` has kBandedMetricCount columns.
  void add_band(size_t sample, uint64_t weight_ns, std::span<uint64_t> numbers) const {
    if (of_sample[sample] != Band::kUnknown) numbers[column_of(of_sample[sample])] = weight_ns;
  }
  /// Whether a sample is of this metric: any is CPU time, those without a band are nothing else.
  bool counts(size_t sample, Metric metric) const {
    if (metric == kCpu) return true;
    return banded && of_sample[sample] != Band::kUnknown && column_of(of_sample[sample]) == metric;
  }

 private:
  static size_t column_of(Band band) { return kPoor + size_t(band) - size_t(Band::kPoor); }
};

/// The filter's processes and time choose what counts as a level; its threads, modules and functions do not:
/// a thread's band is how busy the others were, too. Bands of samples are of the whole run, whatever part of
/// it passes, so what a filter takes out keeps its band; that of processes that do not pass is what it is
/// without the filter.
Concurrency concurrency(const load::Profile& profile, const Filter& filter, const BandOptions& options);

/// The time of the run that passes the filter.
TimeRange time_range(const load::Profile& profile, const Filter& filter);

}  // namespace varve::analyze
