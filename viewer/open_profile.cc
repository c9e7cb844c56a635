// SPDX-License-Identifier: MIT
// Finding, loading, resolving; see open_profile.h.
// Context: viewer.
#include "viewer/open_profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <functional>

#include "viewer/record/host_facts.h"
#include "viewer/record/profile_directory.h"
#include "viewer/record/shell_words.h"

namespace varve {
namespace {

/// A line on the terminal while symbols are read for more than a second.
class Progress {
 public:
  void operator()(const symbol::ResolveProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (isatty(STDERR_FILENO) != 1 || now - start_ < std::chrono::seconds(1)) return;
    shown_ = true;
    fmt::print(stderr, "\rReading symbols: {} of {} addresses\x1b[K", progress.done, progress.total);
  }
  void finish() const {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

}  // namespace

namespace {

tl::expected<std::string, std::string> wanted_path(const std::string& word) {
  return word.empty() ? load::find_newest_profile(".") : word;
}

tl::expected<OpenProfile, std::string> load_with(const std::string& path, const load::LoadOptions& options) {
  OpenProfile open;
  open.path = path;
  auto profile = load::load(open.path, options);
  if (!profile) return tl::unexpected(profile.error());
  open.profile = std::move(*profile);
  return open;
}

}  // namespace

std::string missing_word(const std::string& usage, const std::string& function) {
  const std::string word = record::shell_quoted(function);
  if (load::find_newest_profile(function).value_or("") == function)
    return fmt::format("'{}' is a profile; a FUNCTION is missing: {} FUNCTION {}", function, usage, word);
  if (!load::find_newest_profile("."))
    return fmt::format(
        "there is no profile here to look for a function '{}' in; a PROFILE is missing: {} {} PROFILE",
        function, usage, word);
  return {};
}

tl::expected<OpenProfile, std::string> load_profile(const std::string& word,
                                                    const load::LoadProgress& progress) {
  const auto path = wanted_path(word);
  if (!path) return tl::unexpected(path.error());
  return load_with(*path, {.progress = progress});
}

std::optional<OpenProfile> load_views(const std::string& word, const symbol::ResolveOptions& names) {
  if (names != symbol::ResolveOptions()) return std::nullopt;
  const auto path = wanted_path(word);
  if (!path || !has_stored_views(*path)) return std::nullopt;
  auto open = load_with(*path, {.samples = false});
  if (!open) return std::nullopt;
  open->views = read_stored_views(open->profile);
  if (!open->views) return std::nullopt;
  return std::move(*open);
}

const view::StoredViews* views_for(const OpenProfile& with_views, const OpenProfile& with_samples) {
  const bool same = with_views.profile.sample_inputs == with_samples.profile.sample_inputs;
  return same && with_views.views && !with_samples.names.looked_up ? &*with_views.views : nullptr;
}

tl::expected<void, std::string> fit_request(const OpenProfile& open, const std::string& word,
                                            view::Request& request) {
  if (!word.empty()) request.profile_words = record::shell_quoted(word);
  request.still_recording = record::is_recording(open.path);
  request.annotate.sources.directory = open.profile.session.directory;
  return analyze::resolve_marks(open.profile, request.marks, request.filter);
}

tl::expected<OpenProfile, std::string> open_profile(const std::string& word, ReportOptions& options) {
  auto open = load_profile(word);
  if (!open) return open;
  if (auto fits = fit_request(*open, word, options.request); !fits) return tl::unexpected(fits.error());
  options.request.annotate.symbols = options.symbols;
  Progress progress;
  open->names = symbol::symbols_for(open->profile, options.symbols, std::ref(progress));
  progress.finish();
  return open;
}

}  // namespace varve
