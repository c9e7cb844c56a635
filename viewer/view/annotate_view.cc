// SPDX-License-Identifier: MIT
// One function by source line and by instruction. Text shows what is near a row with time, a table a file and
// a table a piece of code; scripts get all rows, in one table each. Context: viewer.
#include <fmt/format.h>

#include <algorithm>

#include "viewer/analyze/annotate.h"
#include "viewer/analyze/annotate_source.h"
#include "viewer/analyze/attribute.h"
#include "viewer/analyze/neighbours.h"
#include "viewer/symbol/code_collect.h"
#include "viewer/view/band_columns.h"
#include "viewer/view/make.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::Annotation;
using analyze::kCpu;
using analyze::kNoRow;
using analyze::kSamples;

constexpr size_t kTabWidth = 8;

std::string with_spaces(std::string_view line) {
  std::string text;
  for (const char c : line) {
    if (c == '\t')
      text.append(kTabWidth - text.size() % kTabWidth, ' ');
    else
      text += c;
  }
  return text;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class AnnotationView {
 public:
  AnnotationView(const Source& source, const Annotation& annotation, uint64_t whole, bool all_rows)
      : source_(source), it_(annotation), whole_(whole), all_rows_(all_rows) {}

  void facts() {
    const FunctionCells cells = function_cells(source_, it_.function);
    view_.facts = {{"function", "Function", Unit::kText, cells.name, true},
                   {"module", "Module", Unit::kText, cells.module},
                   {"file", "", Unit::kText, cells.file},
                   {"line", "", Unit::kNumber, cells.line},
                   {"total_ns", "Time in its code", Unit::kTime, it_.total[kCpu]},
                   {"total_share", "Of the CPU time", Unit::kShare, share(it_.total[kCpu], whole_)},
                   {"self_ns", "Without inlined calls", Unit::kTime, it_.self[kCpu]},
                   {"samples", "Samples", Unit::kCount, it_.total[kSamples]}};
    if (it_.self == it_.total) view_.facts[6].label.clear();
  }

  void lines() {
    const BandColumns bands(source_, most_of_line_);
    add_line_data(bands);
    std::vector<uint64_t> places;
    for (const auto& line : it_.lines) places.push_back(uint64_t(line.file) << 32 | line.line);
    const std::vector<bool> near = rows_near(it_.line_metrics, places);
    uint32_t next = 0;
    for (uint32_t file = 0; file < it_.files.size(); ++file) add_file(bands, near, file, next);
    rest(bands, it_.no_line, "[line not known]");
  }

  void instructions() {
    const BandColumns bands(source_, most_of_instruction_);
    add_instruction_data(bands);
    std::vector<uint64_t> places;
    for (uint32_t i = 0; i < it_.instructions.size(); ++i)
      places.push_back(uint64_t(it_.instructions[i].piece) << 32 | i);
    const std::vector<bool> near = rows_near(it_.instruction_metrics, places);
    uint32_t next = 0;
    for (uint32_t piece = 0; piece < it_.pieces.size(); ++piece) add_piece(bands, near, piece, next);
    rest(bands, it_.no_code, "[no code stored]");
  }

  View take() { return std::move(view_); }

 private:
  std::vector<bool> rows_near(const analyze::MetricTable& metrics,
                              const std::vector<uint64_t>& places) const {
    return all_rows_ ? std::vector<bool>(places.size(), true) : analyze::near_hot(metrics, places);
  }

  Table shown(const BandColumns& bands, std::string title) const {
    Table table;
    table.title = std::move(title);
    table.columns = {{"", "Self%", Unit::kShare}, {"", "Self", Unit::kTime, false, -1, 4}};
    bands.add_bar_column(table);
    return table;
  }

  /// Share, time and bar of a row; nothing where there is no time, so that the hot rows stand out.
  void put_numbers(Table& table, const BandColumns& bands, std::span<const uint64_t> metrics) const {
    const uint64_t ns = metrics[kCpu];
    if (ns == 0)
      table.put({Cell(), Cell(), Bar()});
    else
      table.put({share(ns, it_.total[kCpu]), ns}), bands.put_bar(table, metrics);
  }

  static Row row_of(const analyze::MetricTable& metrics, size_t row, uint64_t most) {
    return {0, RowKind::kOrdinary, metrics.at(row, kCpu) == most};
  }

  /// Lines are in the order of their files: those of this one begin at `next`, which goes past them.
  void add_file(const BandColumns& bands, const std::vector<bool>& near, uint32_t file, uint32_t& next) {
    Table table = shown(bands, it_.files[file]);
    table.columns.push_back({"", "Line", Unit::kNumber});
    table.columns.push_back({"", "Source", Unit::kText});
    bool timed = false;
    uint32_t last = 0;
    for (; next < it_.lines.size() && it_.lines[next].file == file; ++next) {
      const uint32_t i = next;
      const analyze::AnnotatedLine& line = it_.lines[i];
      if (!near[i]) continue;
      if (last != 0 && line.line != last + 1) gap(table);
      last = line.line;
      timed = timed || !it_.line_metrics.zero(i);
      table.begin(row_of(it_.line_metrics, i, most_of_line_));
      put_numbers(table, bands, it_.line_metrics.row(i));
      table.put({uint64_t(line.line), view_.own(with_spaces(line.text))});
    }
    if (timed || (file == 0 && it_.total[kCpu] == 0)) view_.tables.push_back(std::move(table));
  }

  /// Instructions are in the order of their pieces, as lines are of their files.
  void add_piece(const BandColumns& bands, const std::vector<bool>& near, uint32_t number, uint32_t& next) {
    const analyze::AnnotatedPiece& piece = it_.pieces[number];
    const char* in = piece.whole ? "Code of" : "Inlined into";
    Table table = shown(bands, fmt::format("{} {} ({}+0x{:x})", in, piece.function, piece.module, piece.low));
    table.columns.push_back({"", "Line", Unit::kText, false, -1, 5});
    table.columns.push_back({"", "Address", Unit::kText});
    table.columns.push_back({"", "Instruction", Unit::kText, false, int(table.columns.size()) + 1});
    table.columns.push_back({"", "", Unit::kText});
    table.columns.push_back({"to", "", Unit::kText});
    table.columns.push_back({"callee", "", Unit::kText});
    uint32_t last = kNoRow;
    for (; next < it_.instructions.size() && it_.instructions[next].piece == number; ++next) {
      const uint32_t i = next;
      const analyze::AnnotatedInstruction& row = it_.instructions[i];
      if (!near[i]) continue;
      const bool joins =
          last == kNoRow || (i == last + 1 && it_.instructions[last].code.end() == row.code.address);
      if (!joins) gap(table);
      last = i;
      table.begin(row_of(it_.instruction_metrics, i, most_of_instruction_));
      put_numbers(table, bands, it_.instruction_metrics.row(i));
      // The first of a basic block has a colon, as a label has.
      const std::string address = fmt::format("{:x}{}", row.code.address, row.block_start ? ":" : "");
      const std::string to = row.jump == kNoRow ? "" : fmt::format("{:x}", row.code.target);
      table.put({view_.own(place_of(row)), view_.own(address), view_.own(text_of(row)),
                 view_.own(short_text_of(row)), view_.own(to), view_.own(row.callee)});
    }
    view_.tables.push_back(std::move(table));
  }

  std::string place_of(const analyze::AnnotatedInstruction& row) const {
    if (row.line == kNoRow) return "";
    const analyze::AnnotatedLine& line = it_.lines[row.line];
    if (line.file == 0) return fmt::format("{}", line.line);
    return fmt::format("{}:{}", base_name(it_.files[line.file]), line.line);
  }

  static std::string text_of(const analyze::AnnotatedInstruction& row) {
    return row.code.operands.empty() ? row.code.mnemonic
                                     : fmt::format("{:<7} {}", row.code.mnemonic, row.code.operands);
  }

  /// Inside of the function its name says nothing, and where a jump leads is what must not be cut.
  static std::string short_text_of(const analyze::AnnotatedInstruction& row) {
    const std::string& operands = row.code.operands;
    const size_t name = operands.find(" <"), offset = operands.rfind("+0x");
    if (row.jump == kNoRow || name == std::string::npos) return text_of(row);
    const bool start = offset == std::string::npos || offset < name;
    return fmt::format("{:<7} {}{}", row.code.mnemonic, operands.substr(0, name),
                       start ? "" : " <" + operands.substr(offset));
  }

  void gap(Table& table) const {
    table.begin({0, RowKind::kRest, false});
    table.put({Cell(), Cell(), Bar()});
    size_t last = table.columns.size() - 1;
    while (table.columns[last].title.empty()) --last;
    const int narrow = table.columns[last].narrow;
    for (size_t i = 3; i < table.columns.size(); ++i)
      table.put({i == last || int(i) == narrow ? Cell(std::string_view("...")) : Cell()});
  }

  /// Time that no row has, so that the sums are whole.
  void rest(const BandColumns& bands, const std::vector<uint64_t>& metrics, std::string_view label) {
    if (metrics[kCpu] == 0) return;
    Table table = shown(bands, "");
    table.columns.push_back({"", "", Unit::kText});
    table.columns.push_back({"", "Elsewhere", Unit::kText});
    table.begin({0, RowKind::kSpecial, false});
    put_numbers(table, bands, metrics);
    table.put({Cell(), label});
    view_.tables.push_back(std::move(table));
  }

  Table data(const char* id, const BandColumns& bands, std::initializer_list<Column> columns) const {
    Table table;
    table.id = id;
    table.only_data = true;
    table.columns = columns;
    for (const Column& column : {Column{"self_ns", "", Unit::kTime}, Column{"self_share", "", Unit::kShare},
                                 Column{"samples", "", Unit::kCount}})
      table.columns.push_back(column);
    bands.add_data_columns(table);
    return table;
  }
  void put_data(Table& table, const BandColumns& bands, std::span<const uint64_t> metrics) const {
    table.put({metrics[kCpu], share(metrics[kCpu], it_.total[kCpu]), metrics[kSamples]});
    bands.put_data(table, metrics);
  }

  void add_line_data(const BandColumns& bands) {
    Table table = data("lines", bands,
                       {{"file", "", Unit::kText}, {"line", "", Unit::kNumber}, {"source", "", Unit::kText}});
    for (uint32_t i = 0; i < it_.lines.size(); ++i) {
      const analyze::AnnotatedLine& line = it_.lines[i];
      table.begin({});
      table.put({own_file(line.file), uint64_t(line.line), view_.own(line.text)});
      put_data(table, bands, it_.line_metrics.row(i));
    }
    if (it_.no_line[kCpu] != 0) {
      table.add({0, RowKind::kSpecial, false},
                {std::string_view(), Cell(), std::string_view("[line not known]")});
      put_data(table, bands, it_.no_line);
    }
    view_.tables.push_back(std::move(table));
  }

  void add_instruction_data(const BandColumns& bands) {
    Table table = data("instructions", bands,
                       {{"module", "", Unit::kText},
                        {"address", "", Unit::kText},
                        {"bytes", "", Unit::kText},
                        {"mnemonic", "", Unit::kText},
                        {"operands", "", Unit::kText},
                        {"file", "", Unit::kText},
                        {"line", "", Unit::kNumber},
                        {"inlined", "", Unit::kText},
                        {"block_start", "", Unit::kFlag},
                        {"target", "", Unit::kText}});
    for (uint32_t i = 0; i < it_.instructions.size(); ++i) {
      const analyze::AnnotatedInstruction& row = it_.instructions[i];
      const auto* line = row.line == kNoRow ? nullptr : &it_.lines[row.line];
      const std::string target = row.code.target == 0 ? "" : fmt::format("0x{:x}", row.code.target);
      table.begin({});
      table.put({view_.own(it_.pieces[row.piece].module), view_.own(fmt::format("0x{:x}", row.code.address)),
                 view_.own(fmt::format(
                     "{:02x}", fmt::join(std::vector<uint8_t>(row.bytes.begin(), row.bytes.end()), ""))),
                 view_.own(row.code.mnemonic), view_.own(row.code.operands),
                 line ? own_file(line->file) : std::string_view(), line ? Cell(uint64_t(line->line)) : Cell(),
                 view_.own(row.inlined), uint64_t(row.block_start), view_.own(target)});
      put_data(table, bands, it_.instruction_metrics.row(i));
    }
    if (it_.no_code[kCpu] != 0) {
      table.begin({0, RowKind::kSpecial, false});
      table.put({std::string_view(), std::string_view(), std::string_view(),
                 std::string_view("[no code stored]"), std::string_view(), std::string_view(), Cell(),
                 std::string_view(), Cell(), std::string_view()});
      put_data(table, bands, it_.no_code);
    }
    view_.tables.push_back(std::move(table));
  }

  std::string_view own_file(uint32_t file) {
    if (files_.empty())
      for (const std::string& each : it_.files) files_.push_back(view_.own(each));
    return files_[file];
  }

  const Source& source_;
  const Annotation& it_;
  uint64_t whole_;
  bool all_rows_;
  uint64_t most_of_line_ = largest_cpu(it_.line_metrics);
  uint64_t most_of_instruction_ = largest_cpu(it_.instruction_metrics);
  View view_;
  std::vector<std::string_view> files_;  // of view_, once they are needed
};

/// Of several functions of one name the hottest.
FunctionId hottest(const std::vector<FunctionId>& functions, const Source& source, const Request& request,
                   const analyze::Selection& selection) {
  const analyze::Flat& flat = selection.functions(source.profile, source.symbols, request.inlines);
  return *std::ranges::max_element(functions, {}, [&](FunctionId function) {
    return std::pair(flat.self.at(function.index(), kCpu), flat.total.at(function.index(), kCpu));
  });
}

constexpr std::string_view kNoTimeOfItsOwn = "None of its time is in its own code: it is in what this calls.";

std::string also_note(const Source& source, const Request& request, const std::vector<FunctionId>& functions,
                      FunctionId shown) {
  return fmt::format(
      "Of {} functions that fit '{}' this has the most time of its own; for another ask for {}.",
      functions.size(), request.function, chosen_words(source, functions, shown));
}

void code_notes(const Annotation& annotation, const Request& request, std::vector<std::string>& notes) {
  const bool all_there = annotation.no_code[kCpu] == 0 && !annotation.instructions.empty();
  if (annotation.run_time_code)
    notes.push_back("A runtime made this code while the program ran, so the profile has no bytes of it.");
  else if (!all_there)
    notes.push_back(
        "The profile has not all of this code, and the program file that ran is not here to read it from.");
  if (!annotation.instructions.empty())
    notes.push_back("A sample can be late by an instruction: the slow one may be the one before.");
  if (request.inlines && annotation.self != annotation.total)
    notes.push_back(
        "Inlined calls stand at their own lines; --no-inline charges them to the line of the call.");
}

}  // namespace

const Kind kAnnotation = {"annotate", "one function by source line and by instruction", false,
                          OfWaits::kNothing, make_annotation};

Made make_annotation(const Source& source, const Request& request, const analyze::Selection& selection) {
  const auto functions =
      analyze::functions_named(source.profile, source.symbols, selection.by_path, request.inlines,
                               request.function, request.function_pattern);
  if (functions.empty()) return tl::unexpected(no_function(source, request, selection.by_path));
  const FunctionId function = hottest(functions, source, request, selection);
  std::vector<std::string> notes;
  if (functions.size() > 1) notes.push_back(also_note(source, request, functions, function));

  const AnnotateRequest& wanted = request.annotate;
  const auto sites =
      analyze::sites_of(source.profile, source.symbols, selection.by_path, request.inlines, function);
  if (std::ranges::all_of(sites, [&](SiteId site) { return source.profile.sites[site.index()].special(); }))
    return tl::unexpected(
        fmt::format("{} is no function and has no code; varve report quality has more of it",
                    source.symbols.strings.text(source.symbols.functions[function.index()].name)));
  const auto code = wanted.code ? wanted.code(source.profile, sites)
                                : std::make_shared<const symbol::FoundCode>(
                                      symbol::code_for(source.profile, sites, wanted.symbols));
  if (!code) return tl::unexpected<std::string>("Its code and lines are being read.");
  if (!code->trouble.empty()) notes.push_back(code->trouble);
  Annotation annotation = analyze::annotate(source.profile, source.symbols, code->table, selection.by_path,
                                            request.inlines, function, wanted.syntax);
  if (wanted.lines)
    for (std::string& note :
         analyze::add_source(annotation, source.profile, source.symbols, wanted.sources, wanted.symbols))
      notes.push_back(std::move(note));
  if (wanted.instructions) code_notes(annotation, request, notes);
  if (annotation.total[kCpu] == 0) notes.insert(notes.begin(), std::string(kNoTimeOfItsOwn));

  AnnotationView view(source, annotation, whole(selection)[kCpu], wanted.whole);
  view.facts();
  if (wanted.lines) view.lines();
  if (wanted.instructions) view.instructions();
  View result = view.take();
  result.notes = std::move(notes);
  return result;
}

}  // namespace varve::view
