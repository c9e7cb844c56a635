// SPDX-License-Identifier: MIT
// One pass over the paths: what the walk down to a path knows is two bits, kept a path, and its last
// function. Context: viewer.
#include "viewer/analyze/neighbours.h"

#include <algorithm>

#include "viewer/analyze/function_place.h"
#include "viewer/analyze/paths.h"
#include "viewer/analyze/site_keys.h"

namespace varve::analyze {
namespace {

using Numbers = std::span<const uint64_t>;

void add(std::vector<uint64_t>& sum, Numbers numbers) {
  for (size_t k = 0; k < sum.size(); ++k) sum[k] += numbers[k];
}

/// Sums by function; the row after the last function is "none".
class Sums {
 public:
  Sums(size_t functions, size_t width) : table_(functions + 1, width) {}

  void add(FunctionId function, Numbers numbers) {
    table_.add(function.valid() ? function.index() : table_.rows() - 1, numbers);
  }

  std::vector<Neighbour> sorted() const {
    std::vector<Neighbour> rows;
    for (uint32_t i = 0; i < table_.rows(); ++i) {
      if (table_.zero(i)) continue;
      const Numbers row = table_.row(i);
      const bool none = i + 1 == table_.rows();
      rows.push_back({none ? FunctionId::none() : FunctionId{i}, {row.begin(), row.end()}});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Neighbour& a, const Neighbour& b) {
      return a.metrics[kCpu] > b.metrics[kCpu];
    });
    return rows;
  }

 private:
  MetricTable table_;
};

class Butterfly {
 public:
  Butterfly(const load::Profile& profile, const symbol::SymbolTable& symbols, bool inlines,
            Neighbours& result, size_t width)
      : profile_(profile),
        symbols_(symbols),
        inlines_(inlines),
        result_(result),
        callers_(symbols.functions.size(), width),
        callees_(symbols.functions.size(), width),
        recursive_(symbols.functions.size(), width),
        wanted_(symbols.functions.size()),
        inside_(profile.paths.size()),
        repeated_(profile.paths.size()),
        below_(profile.paths.size()) {
    for (const FunctionId function : result.functions) wanted_[function.index()] = true;
    for (auto* sum : {&result.total, &result.self, &result.repeated, &result.elsewhere}) sum->resize(width);
  }

  /// What ends in each path, after mark().
  void add_own(const PathTimes& by_path) {
    for (uint32_t i = 0; i < profile_.paths.size(); ++i) {
      const Numbers own = by_path.row(i);
      if (!inside_[i]) {
        add(result_.elsewhere, own);
        continue;
      }
      if (below_[i].valid())
        callees_.add(below_[i], own);
      else
        add(result_.self, own);
      if (repeated_[i]) add(result_.repeated, own);
    }
    result_.callees = callees_.sorted();
  }

  /// Which paths are inside; needs no numbers.
  void mark() {
    for (uint32_t i = 1; i < profile_.paths.size(); ++i) walk(i, [](FunctionId, FunctionId, bool) {});
  }

  void add_inclusive(const MetricTable& inclusive) {
    for (uint32_t i = 1; i < profile_.paths.size(); ++i) {
      const Numbers numbers = inclusive.row(i);
      walk(i, [&](FunctionId caller, FunctionId function, bool inside) {
        const bool one = wanted_[function.index()];
        if (one && !inside) {
          add(result_.total, numbers);
          callers_.add(caller, numbers);
        } else if (one && !wanted_[caller.index()]) {
          recursive_.add(caller, numbers);
        }
      });
    }
    result_.callers = callers_.sorted();
    result_.recursive_callers = recursive_.sorted();
  }

 private:
  FunctionId last_function(uint32_t path) const {
    return path == 0 ? FunctionId::none()
                     : counted_frames(symbols_, profile_.paths[path].site, inlines_)[0].function;
  }

  /// Calls visit(caller, function, inside before it) for each frame of the path from the outermost, and notes
  /// the state after the innermost.
  template <typename Visit>
  void walk(uint32_t path, const Visit& visit) {
    const uint32_t parent = profile_.paths[path].parent.value;
    bool inside = inside_[parent], repeated = repeated_[parent];
    FunctionId below = below_[parent];
    FunctionId caller = last_function(parent);
    const auto frames = counted_frames(symbols_, profile_.paths[path].site, inlines_);
    for (size_t j = frames.size(); j-- > 0;) {
      const FunctionId function = frames[j].function;
      visit(caller, function, inside);
      if (wanted_[function.index()]) {
        repeated = repeated || inside;
        inside = true;
        below = FunctionId::none();
      } else if (inside && !below.valid()) {
        below = function;
      }
      caller = function;
    }
    inside_[path] = inside;
    repeated_[path] = repeated;
    below_[path] = below;
  }

  const load::Profile& profile_;
  const symbol::SymbolTable& symbols_;
  bool inlines_;
  Neighbours& result_;
  Sums callers_, callees_, recursive_;
  std::vector<bool> wanted_;       // by function
  std::vector<bool> inside_;       // by path: one of the functions is on it
  std::vector<bool> repeated_;     // by path: more than one
  std::vector<FunctionId> below_;  // by path: what the innermost of them called; none: it is the leaf
};

std::vector<bool> functions_with_time(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                      const PathTimes& by_path, bool inlines) {
  std::vector<bool> path_used(profile.paths.size()), site_used(profile.sites.size());
  for (size_t i = profile.paths.size(); i-- > 1;) {
    if (!path_used[i] && by_path.zero(i)) continue;
    path_used[profile.paths[i].parent.index()] = true;
    site_used[profile.paths[i].site.index()] = true;
  }
  std::vector<bool> used(symbols.functions.size());
  for (uint32_t i = 0; i < site_used.size(); ++i) {
    if (!site_used[i]) continue;
    for (const symbol::Frame& frame : counted_frames(symbols, {i}, inlines))
      used[frame.function.index()] = true;
  }
  return used;
}

/// By its full, short or linkage name.
bool is_called(const symbol::SymbolTable& symbols, const symbol::Function& function, std::string_view name) {
  return symbols.strings.text(function.name) == name || symbols.strings.text(function.short_name) == name ||
         symbols.strings.text(function.linkage_name) == name;
}

}  // namespace

std::vector<FunctionId> functions_named(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                        const PathTimes& by_path, bool inlines, std::string_view name,
                                        const Pattern& pattern) {
  const std::vector<bool> used = functions_with_time(profile, symbols, by_path, inlines);
  const auto functions_that = [&](const auto& fits) {
    std::vector<FunctionId> found;
    for (uint32_t i = 0; i < used.size(); ++i)
      if (used[i] && fits(FunctionId{i}, symbols.functions[i])) found.push_back({i});
    return found;
  };
  auto found = functions_that(
      [&](FunctionId, const symbol::Function& function) { return is_called(symbols, function, name); });
  const size_t at = name.rfind('@');
  if (found.empty() && at != std::string_view::npos)
    found = functions_that([&](FunctionId id, const symbol::Function& function) {
      return is_called(symbols, function, name.substr(0, at)) &&
             is_at_place(profile, symbols, id, name.substr(at + 1));
    });
  if (found.empty() && pattern.given())
    found = functions_that([&](FunctionId, const symbol::Function& function) {
      return pattern.matches(symbols.strings.text(function.name));
    });
  return found;
}

std::vector<std::string> function_names(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                        const PathTimes& by_path, bool inlines) {
  const std::vector<bool> used = functions_with_time(profile, symbols, by_path, inlines);
  std::vector<std::string> names;
  for (uint32_t i = 0; i < used.size(); ++i) {
    if (!used[i] || symbols.functions[i].source == symbol::NameSource::kSpecial) continue;
    names.emplace_back(symbols.strings.text(symbols.functions[i].short_name));
    const size_t scope = names.back().rfind("::");
    if (scope != std::string::npos) names.push_back(names.back().substr(scope + 2));
  }
  return names;
}

Neighbours neighbours(const load::Profile& profile, const symbol::SymbolTable& symbols,
                      const PathTimes& by_path, bool inlines, std::vector<FunctionId> functions) {
  Neighbours result;
  result.functions = std::move(functions);
  Butterfly butterfly(profile, symbols, inlines, result, by_path.width());
  butterfly.mark();
  butterfly.add_own(by_path);
  butterfly.add_inclusive(inclusive_times(profile.paths, by_path));
  return result;
}

}  // namespace varve::analyze
