// SPDX-License-Identifier: MIT
// One walk over the paths with time: what is known of a path is two bits and two functions, kept on a stack.
// Context: viewer.
#include "viewer/analyze/neighbours.h"

#include <algorithm>
#include <utility>

#include "viewer/analyze/function_place.h"
#include "viewer/analyze/path_walk.h"
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

/// A visitor of a walk: what ends on the present path is what its functions are to the wanted ones, and what
/// was met since it was entered is what its callers led to.
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
        calls_again_(symbols.functions.size()),
        sums_(width) {
    for (const FunctionId function : result.functions) wanted_[function.index()] = true;
    for (auto* sum : {&result.total, &result.self, &result.repeated, &result.elsewhere}) sum->resize(width);
  }

  void enter(uint32_t path) {
    Place place = stack_.back();
    place.calls = calls_.size();
    const auto frames = counted_frames(symbols_, profile_.paths[path].site, inlines_);
    for (size_t j = frames.size(); j-- > 0;) enter_function(place, frames[j].function);
    stack_.push_back(place);
    sums_.enter();
  }

  void at(uint32_t, Numbers own) {
    sums_.add(own);
    const Place& place = stack_.back();
    if (!place.inside) return add(result_.elsewhere, own);
    if (place.below.valid())
      callees_.add(place.below, own);
    else
      add(result_.self, own);
    if (place.repeated) add(result_.repeated, own);
  }

  void leave(uint32_t) {
    const Numbers since = sums_.leave();
    for (; calls_.size() > stack_.back().calls; calls_.pop_back()) {
      const Call& call = calls_.back();
      if (call.first) {
        callers_.add(call.caller, since);
        add(result_.total, since);
      } else if (--calls_again_[call.caller.index()] == 0) {
        // Of a stack on which it calls again and again only the outermost: the others are in its time.
        recursive_.add(call.caller, since);
      }
    }
    stack_.pop_back();
  }

  void finish() {
    result_.callees = callees_.sorted();
    result_.callers = callers_.sorted();
    result_.recursive_callers = recursive_.sorted();
  }

 private:
  /// A path on the stack, after its innermost frame.
  struct Place {
    bool inside = false;    // one of the functions is on it
    bool repeated = false;  // more than one
    FunctionId below;       // what the innermost of them called; none: it is the leaf
    FunctionId last;        // of the innermost frame
    size_t calls = 0;       // in calls_ before it was entered
  };
  /// That one of the functions was called, the first time on a stack or again.
  struct Call {
    FunctionId caller;
    bool first;
  };

  void enter_function(Place& place, FunctionId function) {
    const FunctionId caller = std::exchange(place.last, function);
    if (wanted_[function.index()]) {
      if (!place.inside || !wanted_[caller.index()]) calls_.push_back({caller, !place.inside});
      if (place.inside && !wanted_[caller.index()]) ++calls_again_[caller.index()];
      place.repeated = place.repeated || place.inside;
      place.inside = true;
      place.below = FunctionId::none();
    } else if (place.inside && !place.below.valid()) {
      place.below = function;
    }
  }

  const load::Profile& profile_;
  const symbol::SymbolTable& symbols_;
  bool inlines_;
  Neighbours& result_;
  Sums callers_, callees_, recursive_;
  std::vector<bool> wanted_;           // by function
  std::vector<uint32_t> calls_again_;  // likewise: calls on the stack that are not the first
  OpenSums sums_;
  std::vector<Place> stack_ = {{}};
  std::vector<Call> calls_;
};

/// A visitor that notes which sites lead to numbers.
struct UsedSites {
  const std::vector<load::Path>& paths;
  std::vector<bool> used;

  void enter(uint32_t path) { used[paths[path].site.index()] = true; }
  void at(uint32_t, Numbers) {}
  void leave(uint32_t) {}
};

std::vector<bool> functions_with_time(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                      const PathTimes& by_path, bool inlines) {
  UsedSites sites{profile.paths, std::vector<bool>(profile.sites.size())};
  walk_paths(profile.paths, by_path, sites);
  std::vector<bool> used(symbols.functions.size());
  for (uint32_t i = 0; i < sites.used.size(); ++i) {
    if (!sites.used[i]) continue;
    for (const symbol::Frame& frame : counted_frames(symbols, {i}, inlines))
      used[frame.function.index()] = true;
  }
  return used;
}

/// By its full, short or linkage name.
bool is_called(const symbol::SymbolTable& symbols, const symbol::Function& function, std::string_view name) {
  if (name.empty()) return false;  // as linkage names of some are
  return symbols.strings.text(function.name) == name || symbols.strings.text(function.short_name) == name ||
         symbols.strings.text(function.linkage_name) == name;
}

/// By its name, or by "NAME@PLACE".
bool is_meant(const load::Profile& profile, const symbol::SymbolTable& symbols, FunctionId id,
              std::string_view name) {
  const symbol::Function& function = symbols.functions[id.index()];
  if (is_called(symbols, function, name)) return true;
  const size_t at = name.rfind('@');
  return at != std::string_view::npos && is_called(symbols, function, name.substr(0, at)) &&
         is_at_place(profile, symbols, id, name.substr(at + 1));
}

}  // namespace

bool is_function(const load::Profile& profile, const symbol::SymbolTable& symbols, std::string_view name) {
  uint32_t i = 0;
  while (i < symbols.functions.size() && !is_meant(profile, symbols, {i}, name)) ++i;
  return i < symbols.functions.size();
}

std::vector<FunctionId> functions_named(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                        const PathTimes& by_path, bool inlines, std::string_view name,
                                        const Pattern& pattern) {
  const std::vector<bool> used = functions_with_time(profile, symbols, by_path, inlines);
  const auto functions_that = [&](const auto& fits) {
    std::vector<FunctionId> found;
    for (uint32_t i = 0; i < used.size(); ++i)
      if (used[i] && fits(FunctionId{i})) found.push_back({i});
    return found;
  };
  auto found = functions_that([&](FunctionId id) { return is_meant(profile, symbols, id, name); });
  // Who names a function means no other, though this one has no time.
  if (!found.empty() || !pattern.given() || is_function(profile, symbols, name)) return found;
  return functions_that([&](FunctionId id) {
    return pattern.matches(symbols.strings.text(symbols.functions[id.index()].name));
  });
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
  walk_paths(profile.paths, by_path, butterfly);
  butterfly.finish();
  return result;
}

}  // namespace varve::analyze
