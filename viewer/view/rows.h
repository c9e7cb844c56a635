// SPDX-License-Identifier: MIT
// What the views share: names of functions, modules and special sites, shares, cutting a sorted list and the
// rows that keep the sums whole after it. Context: viewer.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "viewer/analyze/filter.h"
#include "viewer/symbol/special_sites.h"
#include "viewer/view/request.h"
#include "viewer/view/view.h"

namespace varve::view {

inline constexpr std::string_view kEmptyStack = "[no stack]";
inline constexpr std::string_view kOtherWaits = "[other waits]";  // that no hook saw
inline constexpr std::string_view kFilteredOut = "[filtered out]";

/// What time without any stack is called.
constexpr std::string_view no_stack(const Source& source) {
  return source.of_waits ? kOtherWaits : kEmptyStack;
}

double share(uint64_t part, uint64_t whole);
/// "99.9%": rounded down, so that only all of it is 100%.
std::string percent_down(double share, int decimals);
/// Standard error of a share estimated from `samples` samples: sqrt(p (1 - p) / N).
double share_error(double share, uint64_t samples);

/// Name, short name, module, file and line of a function as cells.
struct FunctionCells {
  Cell name, short_name, module, file, line;
  bool special = false;
};
FunctionCells function_cells(const Source& source, FunctionId function);

/// What tells functions apart that share a name: the cells of a column `place`, which is for scripts and for
/// screens that open a row.
class Places {
 public:
  explicit Places(const Source& source);
  static void add_column(Table& table) { table.columns.push_back({"place", "", Unit::kText}); }
  /// Empty for a function whose name is no other's. Always of the same view.
  Cell of(FunctionId function, View& view);

 private:
  const Source& source_;
  std::vector<bool> ambiguous_;
  std::unordered_map<uint32_t, std::string_view> known_;  // texts of the view, by function
};

/// "f@libx.so+0x12, f@liby.so+0x34 and 3 more": functions as a user can type them, without `but`.
std::string chosen_words(const Source& source, const std::vector<FunctionId>& functions, FunctionId but);

/// The module of the function, or empty.
std::string_view function_module(const Source& source, FunctionId function);

/// One sentence on why there is no function of the requested name, with the nearest name that there is.
std::string no_function(const Source& source, const Request& request, const analyze::PathTimes& by_path);

/// Which rows of a list sorted by size stand, and what the others add up to.
struct Cut {
  size_t kept = 0;
  size_t below = 0;   // rows cut
  std::string label;  // "[12 rows below 0.5%]", "[12 more rows]"
};
/// `sizes` descending, in ns; `whole` is what shares are of.
Cut cut_list(const std::vector<uint64_t>& sizes, uint64_t whole, const Request& request);
/// What is sorted by: CPU time, or what `metrics` has of the request's other measures.
analyze::Metric sort_metric(Sort sort, const analyze::MetricTable& metrics);
/// Puts rows of `self` in the order that the request asks for, the largest first. Rows below the least share
/// come last, so that a cut takes them; equal ones stand by self time, by total time, then as they were.
/// `total` is null where there is no other time than self.
void sort_rows(std::vector<uint32_t>& rows, const analyze::MetricTable& self,
               const analyze::MetricTable* total, uint64_t whole, const Request& request);
/// The same as cut_list for rows of a table of metrics in the order of sort_rows(); and the sums of those
/// below. `sized_by` has the sizes where rows are not sized by `metrics`.
struct CutRows : Cut {
  std::vector<uint64_t> rest;
};
CutRows cut_rows(const analyze::MetricTable& metrics, const std::vector<uint32_t>& order, uint64_t whole,
                 const Request& request, const analyze::MetricTable* sized_by = nullptr);
std::string cut_label(size_t rows, bool by_limit, const Request& request);

/// All CPU time and samples of the profile, filtered out or not.
std::vector<uint64_t> whole(const analyze::Selection& selection);

/// Empty for none.
Cell pid_cell(const load::Profile& profile, ProcessId process);

/// "1 thread", "2 threads".
std::string plural(uint64_t count, std::string_view one, std::string_view many);

}  // namespace varve::view
