// SPDX-License-Identifier: MIT
// Thread level parallelism: formulas over the shares c_i of elapsed time in which exactly i threads run, i
// from 0 to n processors (Flautner, Uhlig, Reinhardt and Mudge, "Thread-level parallelism and interactive
// performance of desktop applications", ASPLOS 2000). Its EQ 3 is damaged in some copies; the form here gives
// the paper's own rows. Context: viewer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace varve::analyze {

/// Shares of elapsed time, c[0] to c[n], from times by level. What lies above n is time at n: no more than n
/// threads can run on n processors, but two readings of clocks may overlap.
std::vector<double> level_shares(std::span<const uint64_t> time_by_level, size_t processors);

/// MU = (sum of c_i i) / n.
double machine_utilization(std::span<const double> shares);

/// TLP_n = (sum of c_i i) / (1 - c_0): processors in use while any is. 0 where nothing ran.
double thread_level_parallelism(std::span<const double> shares);

/// TLP_k, as if there were only k processors, 1 <= k <= n:
/// (sum i=1..n of c_i i) / (sum i=1..k of c_i + (1/k) sum i=k+1..n of c_i i).
double thread_level_parallelism(std::span<const double> shares, size_t k);

}  // namespace varve::analyze
