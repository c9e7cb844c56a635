// SPDX-License-Identifier: MIT
// See tlp.h.
// Context: viewer.
#include "viewer/analyze/tlp.h"

#include <algorithm>

namespace varve::analyze {
namespace {

/// Sum of c_i i.
double work(std::span<const double> shares) {
  double sum = 0;
  for (size_t i = 1; i < shares.size(); ++i) sum += shares[i] * double(i);
  return sum;
}

}  // namespace

std::vector<double> level_shares(std::span<const uint64_t> time_by_level, size_t processors) {
  std::vector<double> shares(processors + 1);
  double total = 0;
  for (size_t i = 0; i < time_by_level.size(); ++i) {
    shares[std::min(i, processors)] += double(time_by_level[i]);
    total += double(time_by_level[i]);
  }
  for (double& share : shares) share = total > 0 ? share / total : 0;
  return shares;
}

double machine_utilization(std::span<const double> shares) {
  return shares.size() < 2 ? 0 : work(shares) / double(shares.size() - 1);
}

double thread_level_parallelism(std::span<const double> shares) {
  return thread_level_parallelism(shares, shares.empty() ? 0 : shares.size() - 1);
}

double thread_level_parallelism(std::span<const double> shares, size_t k) {
  double time = 0;
  for (size_t i = 1; i < shares.size(); ++i) time += i <= k ? shares[i] : shares[i] * double(i) / double(k);
  return k == 0 || time <= 0 ? 0 : work(shares) / time;
}

}  // namespace varve::analyze
