// SPDX-License-Identifier: MIT
// See annotate_source.h.
// Context: viewer.
#include "viewer/analyze/annotate_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "viewer/symbol/debug_files.h"

namespace varve::analyze {
namespace {

/// Untrusted debug information may name any number of files.
constexpr size_t kMaxFiles = 200;

using Texts = std::vector<symbol::SourceText>;  // a row each of Annotation::files

/// Puts the texts to the lines, and between them those around.
void fill_in(Annotation& annotation, const Texts& texts) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> rows;  // file and line -> row as it was
  for (uint32_t i = 0; i < annotation.lines.size(); ++i) {
    const AnnotatedLine& row = annotation.lines[i];
    rows[{row.file, row.line}] = i;
    const auto end =
        uint32_t(std::min<uint64_t>(texts[row.file].lines.size(), uint64_t(row.line) + kContextLines));
    for (uint32_t n = row.line - std::min(row.line - 1, kContextLines); n <= end; ++n)
      rows.try_emplace({row.file, n}, kNoRow);
  }
  std::vector<AnnotatedLine> lines;
  MetricTable metrics(rows.size(), annotation.line_metrics.width());
  std::vector<uint32_t> now(annotation.lines.size());
  for (const auto& [place, was] : rows) {
    const auto& [file, line] = place;
    const std::vector<std::string>& text = texts[file].lines;
    const bool has_code = was != kNoRow && annotation.lines[was].has_code;
    lines.push_back({file, line, has_code, line <= text.size() ? text[line - 1] : ""});
    if (was == kNoRow) continue;
    now[was] = uint32_t(lines.size() - 1);
    metrics.add(now[was], annotation.line_metrics, was);
  }
  annotation.lines = std::move(lines);
  annotation.line_metrics = std::move(metrics);
  for (AnnotatedInstruction& each : annotation.instructions)
    if (each.line != kNoRow) each.line = now[each.line];
}

std::string missing_note(const std::vector<std::string>& missing) {
  const std::string more = missing.size() == 1 ? "" : fmt::format(" and {} more", missing.size() - 1);
  return fmt::format("No source: {}{} not found here; --source-path FROM=TO says where it is.", missing[0],
                     more.empty() ? " was" : more + " were");
}

}  // namespace

std::vector<std::string> add_source(Annotation& annotation, const load::Profile& profile,
                                    const symbol::SymbolTable& symbols, const symbol::SourceOptions& sources,
                                    const symbol::ResolveOptions& options) {
  std::vector<std::string> notes, missing;
  const ModuleId id = symbols.functions[annotation.function.index()].module;
  if (!id.valid() || id.index() >= profile.modules.size()) return notes;
  const load::Module& module = profile.modules[id.index()];
  const Nanos built = symbol::built_before(profile, id, options.sysroot);
  std::optional<symbol::Debuginfod> server;
  if (options.debuginfod) server.emplace(options.debuginfod_budget);

  std::vector<bool> timed(annotation.files.size());
  for (size_t i = 0; i < annotation.lines.size(); ++i)
    if (!annotation.line_metrics.zero(i)) timed[annotation.lines[i].file] = true;
  Texts texts(annotation.files.size());
  for (size_t i = 0; i < std::min(texts.size(), kMaxFiles); ++i) {
    texts[i] =
        symbol::read_source(annotation.files[i], sources, module.build_id, server ? &*server : nullptr);
    if (!texts[i].found && (timed[i] || i == 0)) missing.push_back(annotation.files[i]);
    if (texts[i].found && texts[i].modified > built)
      notes.push_back(
          fmt::format("{} was changed after the program was built: lines may have moved.", texts[i].path));
  }
  if (!missing.empty()) notes.push_back(missing_note(missing));
  fill_in(annotation, texts);
  return notes;
}

std::vector<bool> near_hot(const MetricTable& metrics, const std::vector<uint64_t>& positions,
                           uint64_t around) {
  std::vector<bool> near(positions.size());
  bool any = false;
  const auto mark = [&](size_t row, size_t hot) {
    const uint64_t a = positions[row], b = positions[hot];
    if ((a > b ? a - b : b - a) > around) return false;
    return near[row] = true, true;
  };
  for (size_t i = 0; i < positions.size(); ++i) {
    if (metrics.zero(i)) continue;
    any = true;
    for (size_t k = i; k-- > 0 && mark(k, i);) {
    }
    for (size_t k = i; k < positions.size() && mark(k, i); ++k) {
    }
  }
  return any ? near : std::vector<bool>(positions.size(), true);
}

}  // namespace varve::analyze
