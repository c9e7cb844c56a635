// SPDX-License-Identifier: MIT
// Filtering: thread, process, module and function are decided once a thread, site or path; then one pass
// tells which samples pass, and a second adds them up. Context: viewer.
#include "viewer/analyze/filter.h"

#include <re2/re2.h>

#include <algorithm>

#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/object_names.h"
#include "viewer/analyze/object_numbers.h"

namespace varve::analyze {

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

namespace {

std::vector<bool> threads_that_pass(const load::Profile& profile, const Filter& filter) {
  std::vector<bool> pass(profile.threads.size());
  for (uint32_t i = 0; i < pass.size(); ++i) pass[i] = thread_passes(profile, {i}, filter);
  return pass;
}

bool site_has_function(const symbol::SymbolTable& symbols, SiteId site, const std::vector<bool>& matching) {
  for (const symbol::Frame& frame : symbols.frames(site)) {
    if (matching[frame.function.index()]) return true;
  }
  return false;
}

std::vector<bool> functions_that_match(const symbol::SymbolTable& symbols, const Pattern& pattern) {
  std::vector<bool> matching(symbols.functions.size());
  for (size_t i = 0; i < matching.size(); ++i) {
    matching[i] = pattern.matches(symbols.strings.text(symbols.functions[i].name));
  }
  return matching;
}

std::vector<bool> paths_with_function(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                      const Pattern& pattern) {
  const std::vector<bool> matching = functions_that_match(symbols, pattern);
  std::vector<bool> site_matches(profile.sites.size());
  for (uint32_t i = 0; i < profile.sites.size(); ++i)
    site_matches[i] = site_has_function(symbols, {i}, matching);
  std::vector<bool> with(profile.paths.size());
  for (size_t i = 1; i < with.size(); ++i) {
    const load::Path& path = profile.paths[i];
    with[i] = with[path.parent.index()] || site_matches[path.site.index()];
  }
  return with;
}

/// By path; empty where any will do.
std::vector<bool> paths_with_functions(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                       const Filter& filter) {
  std::vector<bool> pass;
  for (const Pattern& each : filter.function.parts()) {
    std::vector<bool> with = paths_with_function(profile, symbols, each);
    for (size_t i = 0; i < pass.size(); ++i) with[i] = with[i] && pass[i];
    pass = std::move(with);
  }
  return pass;
}

/// By site: whether the code that was executing is in a module that passes; empty where any will do.
std::vector<bool> sites_that_pass(const load::Profile& profile, const Filter& filter) {
  if (!filter.module.given()) return {};
  std::vector<bool> module_matches(profile.modules.size());
  for (uint32_t i = 0; i < module_matches.size(); ++i)
    module_matches[i] = filter.module.matches(module_name(profile, {i}));
  std::vector<bool> pass(profile.sites.size());
  for (size_t i = 0; i < pass.size(); ++i)
    pass[i] = !profile.sites[i].special() && module_matches[profile.sites[i].module.index()];
  return pass;
}

/// By row of Waits::waits whether its object passes; empty where any will do.
std::vector<bool> waits_for_objects(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                    const Filter& filter) {
  if (!filter.object.given()) return {};
  const std::vector<uint32_t> numbers = object_numbers(profile);
  std::vector<bool> pass(numbers.size());
  for (size_t row = 0; row < pass.size(); ++row) {
    const size_t first = numbers[row] - 1;
    pass[row] = first == row ? filter.object.matches(int32_t(numbers[row]),
                                                     object_words({profile, symbols},
                                                                  key_of(profile, profile.waits.waits[row])))
                             : bool(pass[first]);
  }
  return pass;
}

}  // namespace

tl::expected<Pattern, std::string> Pattern::parse(std::string_view expression) {
  if (expression.empty()) return tl::unexpected<std::string>("is empty, which every name matches");
  RE2::Options options;
  options.set_log_errors(false);
  auto compiled =
      std::make_shared<const RE2>(re2::StringPiece(expression.data(), expression.size()), options);
  if (!compiled->ok()) return tl::unexpected("is not a regular expression: " + compiled->error());
  Pattern pattern;
  pattern.expressions_.push_back(std::move(compiled));
  return pattern;
}

bool Pattern::matches(std::string_view text) const {
  return std::ranges::all_of(expressions_, [&](const auto& each) {
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *each);
  });
}

bool Pattern::matches(int32_t number, std::string_view name) const {
  return std::ranges::all_of(expressions_, [&](const auto& each) {
    const std::string& text = each->pattern();
    const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
    return is_number ? text == std::to_string(number)
                     : RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *each);
  });
}

Pattern Pattern::and_also(const Pattern& other) const {
  Pattern both = *this;
  both.expressions_.insert(both.expressions_.end(), other.expressions_.begin(), other.expressions_.end());
  return both;
}

std::vector<Pattern> Pattern::parts() const {
  std::vector<Pattern> parts(expressions_.size());
  for (size_t i = 0; i < parts.size(); ++i) parts[i].expressions_ = {expressions_[i]};
  return parts;
}

Filter Filter::and_also(const Filter& other) const {
  return {thread.and_also(other.thread), process.and_also(other.process),
          module.and_also(other.module), function.and_also(other.function),
          object.and_also(other.object), std::max(from, other.from),
          std::min(to, other.to)};
}

std::string_view module_name(const load::Profile& profile, ModuleId module) {
  return module.valid() ? file_name(profile.modules[module.index()].path) : "";
}

std::string_view program_name(const load::Process& process) {
  std::string_view started_by = process.argv.empty() ? "" : file_name(process.argv[0]);
  if (started_by.starts_with('-')) started_by.remove_prefix(1);
  const bool title = started_by.find_first_of(" :") != std::string_view::npos;
  return started_by.empty() || title ? file_name(process.exe) : started_by;
}

bool thread_passes(const load::Profile& profile, ThreadId id, const Filter& filter) {
  const load::Thread& thread = profile.threads[id.index()];
  return filter.thread.matches(thread.tid, thread.name) && process_passes(profile, thread.process, filter);
}

bool process_passes(const load::Profile& profile, ProcessId id, const Filter& filter) {
  if (!filter.process.given()) return true;
  const load::Process& process = profile.processes[id.index()];
  return std::ranges::all_of(filter.process.parts(), [&](const Pattern& part) {
    return part.matches(process.pid, file_name(process.exe)) ||
           part.matches(process.pid, program_name(process));
  });
}

PassingRows::PassingRows(const load::Profile& profile, const symbol::SymbolTable& symbols,
                         const Filter& filter)
    : profile_(profile),
      given_(filter.given()),
      module_given_(filter.module.given()),
      object_given_(filter.object.given()),
      threadless_(!filter.thread.given() && !filter.process.given()),
      threads_(threads_that_pass(profile, filter)),
      sites_(sites_that_pass(profile, filter)),
      paths_(paths_with_functions(profile, symbols, filter)),
      waits_(waits_for_objects(profile, symbols, filter)) {}

bool PassingRows::path(PathId path) const {
  if (!given_) return true;
  if (!paths_.empty() && !paths_[path.index()]) return false;
  if (sites_.empty()) return !module_given_;
  return path.index() != 0 && sites_[profile_.paths[path.index()].site.index()];
}

bool PassingRows::wait(uint32_t row) const {
  const load::Wait& wait = profile_.waits.waits[row];
  return (*this)(wait.thread, wait.path) && (!object_given_ || waits_[row]);
}

Selection select(const load::Profile& profile, const symbol::SymbolTable& symbols, const Filter& filter,
                 const Concurrency& concurrency, Metric metric) {
  const bool banded = concurrency.banded;
  const size_t width = banded ? kBandedMetricCount : kMetricCount;
  const load::Samples& samples = profile.samples;
  const PassingRows passes(profile, symbols, filter);
  const uint64_t start = profile.session.start_time.count;
  const auto in_time = [&](uint64_t time_ns) {
    const uint64_t time = time_ns > start ? time_ns - start : 0;
    return !filter.timed() || (time >= filter.from.count && time < filter.to.count);
  };
  std::vector<bool> pass(samples.size());
  PathSet with(profile.paths.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    // The path last: to look at one is a miss of the processor's caches.
    pass[i] = passes.thread(samples.thread[i]) && in_time(samples.time_ns[i]) &&
              passes.path(samples.path[i]) && concurrency.counts(i, metric);
    if (pass[i]) with.insert(samples.path[i].index());
  }
  with.close();

  Selection selection;
  selection.by_path = PathTimes(std::move(with), width);
  selection.by_thread = MetricTable(profile.threads.size() + 1, width);
  selection.kept.resize(width);
  selection.filtered_out.resize(width);
  for (size_t i = 0; i < samples.size(); ++i) {
    const ThreadId thread = samples.thread[i];
    uint64_t row[kBandedMetricCount] = {samples.weight_ns[i], samples.ticks[i]};
    const std::span<uint64_t> numbers(row, width);
    if (banded) concurrency.add_band(i, samples.weight_ns[i], numbers);
    std::vector<uint64_t>& total = pass[i] ? selection.kept : selection.filtered_out;
    for (size_t k = 0; k < width; ++k) total[k] += numbers[k];
    if (!pass[i]) continue;
    selection.by_path.add(samples.path[i].index(), numbers);
    selection.by_thread.add(thread.valid() ? thread.index() : profile.threads.size(), numbers);
  }
  return selection;
}

const Flat& Selection::functions(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                 bool inlines) const {
  std::optional<Flat>& flat = functions_[inlines ? 1 : 0];
  if (!flat) flat = attribute(profile.paths, by_path, function_keys(profile, symbols, inlines));
  return *flat;
}

}  // namespace varve::analyze
