// SPDX-License-Identifier: MIT
// The shared parts of views.
// Context: viewer.
#include "viewer/view/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "viewer/analyze/function_place.h"
#include "viewer/analyze/nearest_name.h"
#include "viewer/analyze/neighbours.h"

namespace varve::view {

double share(uint64_t part, uint64_t whole) { return whole == 0 ? 0 : double(part) / double(whole); }

std::string percent_down(double share, int decimals) {
  // The sum of a hundredth's double and its error is below the next digit.
  const double scale = std::pow(10, decimals), steps = std::floor(100 * scale * share + 1e-9);
  return fmt::format("{:.{}f}%", steps / scale, decimals);
}

double share_error(double share, uint64_t samples) {
  return samples == 0 ? 0 : std::sqrt(std::max(0.0, share * (1 - share)) / double(samples));
}

namespace {
/// "[Unknown frame(s)]" for all its reasons.
std::string_view without_reason(std::string_view name) {
  for (const std::string_view short_name : {"[Unknown frame(s)]", "[Skipped frame(s)]"}) {
    if (name.starts_with(short_name.substr(0, short_name.size() - 1))) return short_name;
  }
  return name;
}

/// Of those that stand anywhere in the profile: in a wait's stack, on the critical path, or outside the
/// filter.
bool is_known(const Source& source, std::string_view name) {
  const symbol::SymbolTable& symbols = source.symbols;
  return analyze::is_function(source.profile, symbols, name) ||
         std::ranges::any_of(symbols.functions, [&](const symbol::Function& function) {
           const std::string_view known = symbols.strings.text(function.short_name);
           return known.ends_with(name) && known.substr(0, known.size() - name.size()).ends_with("::");
         });
}

}  // namespace

std::string_view function_module(const Source& source, FunctionId function) {
  if (!function.valid()) return "";
  return analyze::module_name(source.profile, source.symbols.functions[function.index()].module);
}

FunctionCells function_cells(const Source& source, FunctionId function) {
  const std::string_view nobody = no_stack(source);
  if (!function.valid()) return {nobody, nobody, std::string_view(), std::string_view(), {}, true};
  const symbol::Function& row = source.symbols.functions[function.index()];
  const symbol::StringTable& strings = source.symbols.strings;
  const std::string_view short_name = strings.text(row.short_name);
  FunctionCells cells;
  cells.name = strings.text(row.name);
  cells.short_name = short_name.empty() ? strings.text(row.name) : short_name;
  cells.module = function_module(source, function);
  cells.file = strings.text(row.file);
  if (row.line != 0) cells.line = uint64_t(row.line);
  cells.special = row.source == symbol::NameSource::kSpecial;
  if (cells.special) cells.short_name = without_reason(strings.text(row.name));
  return cells;
}

Places::Places(const Source& source)
    : source_(source), ambiguous_(analyze::ambiguous_functions(source.symbols)) {}

Cell Places::of(FunctionId function, View& view) {
  if (!function.valid() || !ambiguous_[function.index()]) return std::string_view();
  const auto [known, fresh] = known_.try_emplace(function.value);
  if (fresh) known->second = view.own(analyze::function_place(source_.profile, source_.symbols, function));
  return known->second;
}

std::string chosen_words(const Source& source, const std::vector<FunctionId>& functions, FunctionId but) {
  constexpr size_t kNamed = 5;
  std::string words;
  size_t count = 0;
  for (const FunctionId each : functions) {
    if (each == but || ++count > kNamed) continue;
    words += (words.empty() ? "" : ", ") + analyze::name_with_place(source.profile, source.symbols, each);
  }
  return count > kNamed ? fmt::format("{} and {} more", words, count - kNamed) : words;
}

std::string cut_label(size_t rows, bool by_limit, const Request& request) {
  const char* noun = rows == 1 ? "row" : "rows";
  if (by_limit) return fmt::format("[{} more {}]", rows, noun);
  return fmt::format("[{} {} below {:.3g}%]", rows, noun, request.min_share * 100);
}

Cut cut_list(const std::vector<uint64_t>& sizes, uint64_t whole, const Request& request) {
  Cut cut;
  const double least = request.min_share * double(whole);
  while (cut.kept < sizes.size() && double(sizes[cut.kept]) >= least) ++cut.kept;
  // A table of nothing but what was cut answers nothing; who asks for a larger share means it.
  constexpr size_t kFew = 3;
  if (cut.kept == 0 && request.min_share <= kTextTreeShare) cut.kept = std::min(kFew, sizes.size());
  const bool by_limit = request.limit != 0 && cut.kept > request.limit;
  if (by_limit) cut.kept = size_t(request.limit);
  cut.below = sizes.size() - cut.kept;
  cut.label = cut_label(cut.below, by_limit, request);
  return cut;
}

analyze::Metric sort_metric(Sort sort, const analyze::MetricTable& metrics) {
  struct Key {
    Sort sort;
    analyze::Metric metric;
  };
  static constexpr Key kKeys[] = {{Sort::kSamples, analyze::kSamples}, {Sort::kIdle, analyze::kIdleWait},
                                  {Sort::kPoor, analyze::kPoor},       {Sort::kOk, analyze::kOk},
                                  {Sort::kIdeal, analyze::kIdeal},     {Sort::kOver, analyze::kOver}};
  for (const Key& each : kKeys)
    if (each.sort == sort && each.metric < metrics.width()) return each.metric;
  return analyze::kCpu;
}

void sort_rows(std::vector<uint32_t>& rows, const analyze::MetricTable& self,
               const analyze::MetricTable* total, uint64_t whole, const Request& request) {
  const analyze::Metric metric = sort_metric(request.sort, self);
  const analyze::MetricTable& first = request.sort == Sort::kTotal && total != nullptr ? *total : self;
  const double least = request.min_share * double(whole);
  const auto key = [&](uint32_t row) {
    const uint64_t cpu = self.at(row, analyze::kCpu);
    return std::tuple(double(cpu) >= least, first.at(row, metric), cpu,
                      total != nullptr ? total->at(row, analyze::kCpu) : 0);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) { return key(a) > key(b); });
}

std::string no_function(const Source& source, const Request& request, const analyze::PathTimes& by_path) {
  const char* where = request.cuts() ? "in this profile as filtered" : "in this profile";
  if (is_known(source, request.function))
    return fmt::format(
        "'{}' has no time {}; {}", request.function, where,
        request.cuts() ? "leave the filter and the metric out" : "--metric wait has where it waits");
  const std::vector<std::string> names =
      analyze::function_names(source.profile, source.symbols, by_path, request.inlines);
  const std::string_view near = analyze::nearest_name(request.function, names);
  const std::string help =
      near.empty() ? "'varve report hotspots' lists them" : fmt::format("did you mean '{}'?", near);
  if (request.function_trouble.empty())
    return fmt::format("no function '{}' occurs {}; {}", request.function, where, help);
  return fmt::format("'{}' names no function {}, and {}; {}", request.function, where,
                     request.function_trouble, help);
}

CutRows cut_rows(const analyze::MetricTable& metrics, const std::vector<uint32_t>& order, uint64_t whole,
                 const Request& request, const analyze::MetricTable* sized_by) {
  std::vector<uint64_t> sizes;
  for (const uint32_t row : order) sizes.push_back((sized_by ? *sized_by : metrics).at(row, analyze::kCpu));
  CutRows result{cut_list(sizes, whole, request), std::vector<uint64_t>(metrics.width())};
  for (size_t i = result.kept; i < order.size(); ++i) {
    for (size_t k = 0; k < result.rest.size(); ++k) result.rest[k] += metrics.at(order[i], k);
  }
  return result;
}

std::vector<uint64_t> whole(const analyze::Selection& selection) {
  std::vector<uint64_t> sum = selection.kept;
  for (size_t k = 0; k < sum.size(); ++k) sum[k] += selection.filtered_out[k];
  return sum;
}

Cell pid_cell(const load::Profile& profile, ProcessId process) {
  if (!process.valid()) return {};
  return uint64_t(uint32_t(profile.processes[process.index()].pid));
}

std::string plural(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace varve::view
