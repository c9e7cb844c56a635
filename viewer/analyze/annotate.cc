// SPDX-License-Identifier: MIT
// Times come from the profile's own sites and names, so that sums are those of the other views; the code
// table says what stands where no sample was. Context: viewer.
#include "viewer/analyze/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "viewer/analyze/filter.h"
#include "viewer/analyze/site_keys.h"

namespace varve::analyze {
namespace {

using symbol::Frame;
using symbol::Function;

bool in_chain(std::span<const Frame> frames, FunctionId function) {
  return std::ranges::find(frames, function, &Frame::function) != frames.end();
}

/// Whether rows of two tables are one function. What has internal linkage has a linkage name only in a table
/// that has met its out-of-line copy, and a place only one that was made with debug information.
bool same_function(const symbol::SymbolTable& a, const Function& x, const symbol::SymbolTable& b,
                   const Function& y) {
  const auto equal = [&](StringId Function::*text) {
    return a.strings.text(x.*text) == b.strings.text(y.*text);
  };
  if (x.module != y.module) return false;
  const bool placed = !a.strings.text(x.file).empty() && !b.strings.text(y.file).empty();
  if (placed && (x.line != y.line || !equal(&Function::file))) return false;
  const bool both = !a.strings.text(x.linkage_name).empty() && !b.strings.text(y.linkage_name).empty();
  return both ? equal(&Function::linkage_name) : equal(&Function::name) || equal(&Function::short_name);
}

/// "f" or "f+0x1c".
std::string label(const symbol::SymbolTable& names, const Function& function, uint64_t vaddr) {
  std::string_view name = names.strings.text(function.short_name);
  if (name.empty()) name = names.strings.text(function.name);
  const uint64_t low = function.low.value;
  const bool behind = low != 0 && vaddr > low && vaddr - low < std::max<uint64_t>(function.size, 1);
  return behind ? fmt::format("{}+0x{:x}", name, vaddr - low) : std::string(name);
}

class Annotator {
 public:
  Annotator(const load::Profile& profile, const symbol::SymbolTable& symbols, const symbol::CodeTable& code,
            const PathTimes& by_path, bool inlines, FunctionId function)
      : profile_(profile),
        symbols_(symbols),
        code_(code),
        inlines_(inlines),
        function_(function),
        by_site_(profile.sites.size(), by_path.width()) {
    const size_t width = by_path.width();
    result_.function = function;
    for (auto* sum : {&result_.total, &result_.self, &result_.no_line, &result_.no_code}) sum->resize(width);
    result_.line_metrics = result_.instruction_metrics = MetricTable(0, width);
    by_path.for_each([&](uint32_t path, std::span<const uint64_t> numbers) {
      if (path != 0) by_site_.add(profile.paths[path].site.index(), numbers);
    });
    sites_ = sites_of(profile, symbols, by_path, inlines, function);
    const Function& wanted = symbols.functions[function.index()];
    for (const Function& each : code.names.functions)
      is_it_.push_back(same_function(symbols, wanted, code.names, each));
  }

  Annotation run(symbol::Syntax syntax) {
    add_times();
    find_pieces();
    for (const symbol::CodePiece* piece : pieces_) add_piece(*piece, syntax);
    sort_lines();
    link_jumps();
    return std::move(result_);
  }

 private:
  std::span<const Frame> chain(SiteId site) const { return counted_frames(symbols_, site, inlines_); }
  static void add(std::vector<uint64_t>& sum, std::span<const uint64_t> numbers) {
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += numbers[k];
  }

  void add_times() {
    for (const SiteId site : sites_) {
      const auto numbers = by_site_.row(site.index());
      const Frame& innermost = chain(site)[0];
      add(result_.total, numbers);
      if (innermost.function == function_) add(result_.self, numbers);
      const uint32_t row = line_row(symbols_.strings.text(innermost.file), innermost.line);
      row == kNoRow ? add(result_.no_line, numbers) : result_.line_metrics.add(row, numbers);
    }
  }

  /// The row of a line, in the order in which they are met.
  uint32_t line_row(std::string_view file, uint32_t line) {
    if (file.empty() || line == 0) return kNoRow;
    const auto [known, fresh_file] =
        file_rows_.try_emplace(std::string(file), uint32_t(result_.files.size()));
    if (fresh_file) result_.files.emplace_back(file);
    const auto [at, fresh] =
        line_rows_.try_emplace(std::pair(known->second, line), uint32_t(result_.lines.size()));
    if (fresh) {
      result_.lines.push_back({known->second, line, false, {}});
      result_.line_metrics.append();
    }
    return at->second;
  }

  /// The pieces that hold sites of the function, the one with most time first.
  void find_pieces() {
    std::map<const symbol::CodePiece*, uint64_t> times;
    for (const SiteId id : sites_) {
      const load::Site& site = profile_.sites[id.index()];
      const auto numbers = by_site_.row(id.index());
      const symbol::CodePiece* piece =
          site.special() ? nullptr : code_.piece_at(site.module, site.vaddr.value);
      if (piece == nullptr) {
        add(result_.no_code, numbers);
        if (!site.special() && profile_.modules[site.module.index()].anonymous) result_.run_time_code = true;
        continue;
      }
      times[piece] += numbers[kCpu];
      by_piece_[piece].push_back(id);
      if (symbols_.frames(id).back().function == function_) whole_.insert(piece);
    }
    for (const auto& [piece, time] : times) pieces_.push_back(piece);
    std::ranges::stable_sort(pieces_, std::greater(), [&](const auto* piece) { return times[piece]; });
  }

  void add_piece(const symbol::CodePiece& piece, symbol::Syntax syntax) {
    std::vector<symbol::Instruction> rows = symbol::disassemble(piece.bytes, piece.low, syntax);
    MetricTable times(rows.size(), by_site_.width());
    std::vector<bool> shown(rows.size(), whole_.contains(&piece));
    for (const SiteId site : by_piece_[&piece]) {
      const uint64_t vaddr = profile_.sites[site.index()].vaddr.value;
      auto after = std::ranges::upper_bound(rows, vaddr, {}, &symbol::Instruction::address);
      const auto row = size_t(after - rows.begin()) - 1;
      times.add(row, by_site_.row(site.index()));
      shown[row] = true;
    }
    const auto place = uint32_t(result_.pieces.size());
    result_.pieces.push_back({function_at(piece.module, piece.low),
                              std::string(module_name(profile_, piece.module)), piece.low, piece.end(),
                              whole_.contains(&piece)});
    bool starts = true;
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto frames = code_.frames_at(piece.module, rows[i].address);
      const bool starts_next = rows[i].ends_block;
      if (shown[i] || holds(frames))
        add_instruction(piece, place, std::move(rows[i]), frames, starts, times, i);
      starts = starts_next;
    }
  }

  bool holds(std::span<const Frame> frames) const {
    return std::ranges::any_of(inlines_ || frames.empty() ? frames : frames.last(1),
                               [&](const Frame& frame) { return is_it_[frame.function.index()]; });
  }

  std::string function_at(ModuleId module, uint64_t vaddr) const {
    const auto frames = code_.frames_at(module, vaddr);
    if (frames.empty()) return {};
    return std::string(code_.names.strings.text(code_.names.functions[frames.back().function.index()].name));
  }

  void add_instruction(const symbol::CodePiece& piece, uint32_t place, symbol::Instruction code,
                       std::span<const Frame> frames, bool starts, const MetricTable& times, size_t row) {
    AnnotatedInstruction out;
    const auto bytes = std::span(piece.bytes).subspan(code.address - piece.low, code.size);
    out.bytes.assign(bytes.begin(), bytes.end());
    out.piece = place;
    out.block_start = starts;
    if (!frames.empty()) {
      const Frame& frame = inlines_ ? frames.front() : frames.back();
      out.line = line_row(code_.names.strings.text(frame.file), frame.line);
      if (out.line != kNoRow) result_.lines[out.line].has_code = true;
      const uint32_t inner = frame.function.value;
      if (!is_it_[inner]) out.inlined = code_.names.strings.text(code_.names.functions[inner].short_name);
    }
    out.code = std::move(code);
    name_target(piece, out);
    result_.instructions.push_back(std::move(out));
    result_.instruction_metrics.append();
    result_.instruction_metrics.add(result_.instructions.size() - 1, times, row);
  }

  /// `callq 0x1040` -> `callq memcpy@plt`; `jne 0x1180` -> `jne 0x1180 <f+0x20>`.
  void name_target(const symbol::CodePiece& piece, AnnotatedInstruction& row) const {
    symbol::Instruction& code = row.code;
    if (!code.is_call && !code.is_jump) return;
    const uint64_t target = code.target != 0 ? code.target : code.pointer;
    const auto frames = target != 0 ? code_.frames_at(piece.module, target) : std::span<const Frame>();
    if (frames.empty()) return;
    const Function& function = code_.names.functions[frames.back().function.index()];
    const std::string name = label(code_.names, function, target);
    const bool whole_name = code.is_call && code.target != 0;
    code.operands = whole_name ? name : fmt::format("{} <{}>", code.operands, name);
    if (!is_it_[frames.back().function.index()]) row.callee = code_.names.strings.text(function.name);
  }

  /// The function's own file first, then by time; lines ascend.
  void sort_lines() {
    std::vector<uint64_t> times(result_.files.size());
    for (size_t i = 0; i < result_.lines.size(); ++i)
      times[result_.lines[i].file] += result_.line_metrics.at(i, kCpu);
    const auto own = file_rows_.find(symbols_.strings.text(symbols_.functions[function_.index()].file));
    std::vector<uint32_t> order(result_.files.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater(), [&](uint32_t file) {
      return std::pair(own != file_rows_.end() && own->second == file, times[file]);
    });
    std::vector<uint32_t> place(order.size());
    std::vector<std::string> files;
    for (uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      files.push_back(std::move(result_.files[order[i]]));
    }
    result_.files = std::move(files);
    for (AnnotatedLine& line : result_.lines) line.file = place[line.file];
    std::vector<uint32_t> rows(result_.lines.size());
    std::iota(rows.begin(), rows.end(), 0);
    std::ranges::sort(
        rows, {}, [&](uint32_t row) { return std::pair(result_.lines[row].file, result_.lines[row].line); });
    reorder_lines(rows);
  }

  void reorder_lines(const std::vector<uint32_t>& rows) {
    std::vector<AnnotatedLine> lines;
    MetricTable metrics(rows.size(), result_.line_metrics.width());
    std::vector<uint32_t> now(rows.size());
    for (uint32_t i = 0; i < rows.size(); ++i) {
      now[rows[i]] = i;
      lines.push_back(std::move(result_.lines[rows[i]]));
      metrics.add(i, result_.line_metrics, rows[i]);
    }
    result_.lines = std::move(lines);
    result_.line_metrics = std::move(metrics);
    for (AnnotatedInstruction& each : result_.instructions)
      if (each.line != kNoRow) each.line = now[each.line];
  }

  /// Rows that jumps lead to, which begin blocks.
  void link_jumps() {
    std::map<std::pair<uint32_t, uint64_t>, uint32_t> rows;
    for (uint32_t i = 0; i < result_.instructions.size(); ++i)
      rows.emplace(std::pair(result_.instructions[i].piece, result_.instructions[i].code.address), i);
    for (AnnotatedInstruction& each : result_.instructions) {
      if (!each.code.is_jump || each.code.target == 0) continue;
      const auto at = rows.find({each.piece, each.code.target});
      if (at == rows.end()) continue;
      each.jump = at->second;
      result_.instructions[at->second].block_start = true;
    }
  }

  const load::Profile& profile_;
  const symbol::SymbolTable& symbols_;
  const symbol::CodeTable& code_;
  bool inlines_;
  FunctionId function_;
  MetricTable by_site_;
  std::vector<SiteId> sites_;
  std::vector<bool> is_it_;  // a row each of code_.names.functions
  Annotation result_;
  std::map<std::string, uint32_t, std::less<>> file_rows_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> line_rows_;
  std::vector<const symbol::CodePiece*> pieces_;
  std::map<const symbol::CodePiece*, std::vector<SiteId>> by_piece_;
  std::set<const symbol::CodePiece*> whole_;
};

}  // namespace

std::vector<SiteId> sites_of(const load::Profile& profile, const symbol::SymbolTable& symbols,
                             const PathTimes& by_path, bool inlines, FunctionId function) {
  std::vector<bool> timed(profile.sites.size());
  by_path.for_each([&](uint32_t path, std::span<const uint64_t>) {
    if (path != 0) timed[profile.paths[path].site.index()] = true;
  });
  std::vector<SiteId> with_time, all;
  for (uint32_t i = 0; i < profile.sites.size(); ++i) {
    if (!in_chain(counted_frames(symbols, {i}, inlines), function)) continue;
    all.push_back({i});
    if (timed[i]) with_time.push_back({i});
  }
  return with_time.empty() ? all : with_time;
}

Annotation annotate(const load::Profile& profile, const symbol::SymbolTable& symbols,
                    const symbol::CodeTable& code, const PathTimes& by_path, bool inlines,
                    FunctionId function, symbol::Syntax syntax) {
  return Annotator(profile, symbols, code, by_path, inlines, function).run(syntax);
}

std::vector<uint32_t> hottest_rows(const MetricTable& metrics) {
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < metrics.rows(); ++i)
    if (metrics.at(i, kCpu) != 0) rows.push_back(i);
  std::ranges::stable_sort(rows, std::greater(), [&](uint32_t row) { return metrics.at(row, kCpu); });
  return rows;
}

}  // namespace varve::analyze
