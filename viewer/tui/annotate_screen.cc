// SPDX-License-Identifier: MIT
// See annotate_screen.h.
// Context: viewer.
#include "viewer/tui/annotate_screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "viewer/render/escape.h"
#include "viewer/render/wrap.h"
#include "viewer/tui/annotate_rows.h"
#include "viewer/tui/row_words.h"

namespace varve::tui {
namespace {

constexpr size_t kSideBySide = 110;  // columns from which source and code stand beside each other
constexpr size_t kLinesOnly = 44;    // columns of the source's side while it has numbers and no text

}  // namespace

const view::Table* AnnotateScreen::table_of(Side side) const {
  const Half& half = halves_[side];
  return half.tables.empty() || !made_ ? nullptr : &made_->tables[half.tables[half.part]];
}

void AnnotateScreen::find_tables() {
  for (Half& half : halves_) half.tables.clear();
  for (size_t i = 0; made_ && i < made_->tables.size(); ++i) {
    const view::Table& table = made_->tables[i];
    if (table.only_data || table.rows.empty()) continue;
    if (has_column(table, "Source")) halves_[kSource].tables.push_back(i);
    if (has_column(table, "Instruction")) halves_[kCode].tables.push_back(i);
  }
  for (const Side side : {kSource, kCode}) {
    // The hottest first: the file or the stretch of code whose hottest row is the hottest.
    const auto heat = [&](size_t at) {
      const std::vector<uint32_t> rows = hot_rows(made_->tables[at]);
      return rows.empty() ? 0 : share_of(made_->tables[at], rows.front());
    };
    std::ranges::stable_sort(halves_[side].tables, std::greater<>(), heat);
    show_part(side, 0);
  }
}

void AnnotateScreen::show_part(Side side, size_t part) {
  Half& half = halves_[side];
  half.part = half.tables.empty() ? 0 : part % half.tables.size();
  const view::Table* table = table_of(side);
  half.widget.set_table(table, Units::kAll);
  if (table == nullptr) return;
  if (const std::vector<uint32_t> rows = hot_rows(*table); !rows.empty()) half.widget.select(rows.front());
  half.widget.center();
}

/// What names the selected row, also in a view that is made with better names.
AnnotateScreen::Place AnnotateScreen::place(Side side) const {
  const view::Table* table = table_of(side);
  const auto row = halves_[side].widget.selected();
  if (table == nullptr || !row) return {};
  return {table->title, side == kSource ? cell_of(*table, *row, "Line") : address_of(*table, *row)};
}

/// Addresses are the same in all tables of code, lines in those of one file.
void AnnotateScreen::go_to(Side side, const Place& place) {
  Half& half = halves_[side];
  for (size_t part = 0; part < half.tables.size() && !place.row.empty(); ++part) {
    const view::Table& table = made_->tables[half.tables[part]];
    if (side == kSource && table.title != place.title) continue;
    for (uint32_t row = 0; row < table.rows.size(); ++row) {
      if ((side == kSource ? cell_of(table, row, "Line") : address_of(table, row)) != place.row) continue;
      show_part(side, part);
      half.widget.select(row);
      return half.widget.center();
    }
  }
}

void AnnotateScreen::refresh() {
  const uint64_t code = workspace_.later_code() ? workspace_.later_code()->revision() : 0;
  const bool code_came = std::exchange(code_revision_, code) != code;
  if (!outdated() && !code_came) return;
  if (path_.empty()) {
    const Subject hottest = workspace_.hottest_function();
    if (hottest.function.empty()) return;
    path_.go_to(hottest, workspace_.steps());
  }
  // Who moved in the same answer stays there when names or code become better.
  if (asked_anew()) moved_ = false;
  if (table_of(side_) != nullptr) before_ = {side_, place(side_)};
  made_ = workspace_.make_of("annotate", chosen(path_.last()));
  find_tables();
  side_ = halves_[kSource].tables.empty() ? kCode : kSource;
  if (moved_ && !halves_[before_.first].tables.empty()) go_to(side_ = before_.first, before_.second);
  if (table_of(side_) != nullptr) after_move();
}

bool AnnotateScreen::show(const Subject& subject) {
  if (subject.function.empty()) return false;
  if (path_.go_to(subject, workspace_.steps())) moved_ = false;
  make_again();
  return true;
}

/// Lines without their text are worth half of a screen only where it is wide.
bool AnnotateScreen::only_note() const {
  return stacked_ && mode_ == Mode::kBoth && !halves_[kSource].tables.empty() &&
         !halves_[kCode].tables.empty() && !has_source();
}

bool AnnotateScreen::visible(Side side) const {
  if (halves_[side].tables.empty() || (side == kSource && only_note())) return false;
  if (halves_[side == kSource ? kCode : kSource].tables.empty()) return true;
  return mode_ == Mode::kBoth || (mode_ == Mode::kSource) == (side == kSource);
}

bool AnnotateScreen::has_source() const {
  const view::Table* table = table_of(kSource);
  for (uint32_t row = 0; table != nullptr && row < table->rows.size(); ++row)
    if (table->rows[row].kind == view::RowKind::kOrdinary && !cell_of(*table, row, "Source").empty())
      return true;
  return false;
}

std::string AnnotateScreen::title_of(Side side) const {
  const view::Table* table = table_of(side);
  return side == kSource && !has_source() ? "not here: " + table->title : table->title;
}

std::string AnnotateScreen::parts_of(Side side) const {
  const Half& half = halves_[side];
  if (half.tables.size() < 2) return "";
  return fmt::format(" ({} of {}, {{ }} for others)", half.part + 1, half.tables.size());
}

void AnnotateScreen::draw_half(Pane pane, Side side) {
  Half& half = halves_[side];
  const auto charset = pane.look().utf8 ? render::Charset::kUtf8 : render::Charset::kAscii;
  const std::string parts = parts_of(side);
  const size_t room = pane.columns() - std::min(pane.columns(), parts.size());
  pane.put(0, 0, short_title(render::escape(title_of(side), charset), room) + parts,
           side == side_ ? kBold : kDim);
  half.widget.set_active(side == side_);
  half.corner = pane.corner();
  half.widget.draw(pane.below(1));
}

/// On top, in as many lines as it takes; the pane is what is left.
void AnnotateScreen::draw_note(Pane& pane, const std::string& words, Style style) const {
  const auto charset = pane.look().utf8 ? render::Charset::kUtf8 : render::Charset::kAscii;
  const auto lines = render::wrap_words(render::escape(words, charset), pane.columns());
  for (size_t i = 0; i < lines.size(); ++i) pane.put(i, 0, lines[i], style);
  pane = pane.below(lines.size());
}

void AnnotateScreen::draw(Pane pane) {
  refresh();
  stacked_ = pane.columns() < kSideBySide;
  if (!made_ || (!visible(kSource) && !visible(kCode))) {
    const bool notes = made_ && !made_->notes.empty();
    return draw_note(pane,
                     !made_  ? made_.error()
                     : notes ? made_->notes.front()
                             : "There is nothing to show.",
                     kPlain);
  }
  draw_function(pane, *made_);
  // Rows without any number ask for a reason.
  if (untimed(*made_) && !made_->notes.empty()) draw_note(pane, made_->notes.front(), kBold);
  if (only_note()) {
    side_ = kCode;
    pane.put_name(0, 0, title_of(kSource) + "; s shows its lines", pane.columns(), kDim);
    pane = pane.below(1);
  }
  if (visible(kSource) != visible(kCode)) return draw_half(pane, visible(kSource) ? kSource : kCode);
  if (pane.columns() >= kSideBySide) {
    const size_t left = has_source() ? pane.columns() / 2 : kLinesOnly;
    draw_half(pane.right_of(0, left - 1), kSource);
    draw_half(pane.right_of(left + 1), kCode);
    for (size_t row = 0; row < pane.rows(); ++row)
      pane.put(row, left - 1, pane.look().utf8 ? " │" : " |", kDim);
  } else {
    const size_t above = pane.rows() / 2;
    draw_half(pane.below(0, above), kSource);
    draw_half(pane.below(above), kCode);
  }
}

/// As the code's table names lines: "88" in the function's own file, "vector.h:12" in others.
std::string AnnotateScreen::place_of_line() const {
  const auto row = halves_[kSource].widget.selected();
  const view::Table* table = table_of(kSource);
  if (!row || table == nullptr) return "";
  const std::string line = cell_of(*table, *row, "Line");
  const bool own = std::ranges::any_of(made_->facts, [&](const view::Fact& fact) {
    const auto* file = std::get_if<std::string_view>(&fact.value);
    return fact.id == "file" && file != nullptr && *file == table->title;
  });
  return own ? line : table->title.substr(table->title.rfind('/') + 1) + ":" + line;
}

void AnnotateScreen::select_instructions_of_line() {
  TableWidget& code = halves_[kCode].widget;
  const std::string place = place_of_line();
  code.mark([table = table_of(kCode), place](uint32_t row) { return cell_of(*table, row, "Line") == place; });
  if (table_of(kCode) == nullptr || place.empty()) return;
  for (const uint32_t row : hot_rows(*table_of(kCode))) {
    if (cell_of(*table_of(kCode), row, "Line") != place) continue;
    code.select(row);
    return code.center();
  }
}

void AnnotateScreen::select_line_of_instruction() {
  const auto row = halves_[kCode].widget.selected();
  const view::Table* source = table_of(kSource);
  if (!row || source == nullptr) return;
  const std::string place = cell_of(*table_of(kCode), *row, "Line");
  const std::string line = place.substr(place.rfind(':') + 1);
  TableWidget& widget = halves_[kSource].widget;
  const auto before = widget.selected();
  for (const uint32_t each : widget.rows()) {
    if (cell_of(*source, each, "Line") != line) continue;
    widget.select(each);
    if (place_of_line() == place) return widget.center();
  }
  if (before) widget.select(*before);
}

/// Where the selected instruction jumps to, and what jumps to it.
void AnnotateScreen::mark_jumps() {
  TableWidget& code = halves_[kCode].widget;
  code.mark({});
  const view::Table* table = table_of(kCode);
  const auto row = code.selected();
  if (!jumps_ || !row || table == nullptr) return;
  const std::string here = address_of(*table, *row), to = cell_of(*table, *row, "to");
  code.mark([table, here, to](uint32_t each) {
    return (!to.empty() && address_of(*table, each) == to) || cell_of(*table, each, "to") == here;
  });
}

void AnnotateScreen::after_move() {
  if (side_ == kSource) return select_instructions_of_line();
  mark_jumps();
  select_line_of_instruction();
}

void AnnotateScreen::other_side(Side side) {
  if (visible(side)) side_ = side;
}

void AnnotateScreen::next_part(ptrdiff_t step) {
  const size_t count = halves_[side_].tables.size();
  if (count > 0) show_part(side_, (halves_[side_].part + count + size_t(step)) % count);
}

/// The next colder row than the selected one, or the next hotter.
void AnnotateScreen::next_hot(bool forward) {
  TableWidget& widget = halves_[side_].widget;
  const view::Table* table = table_of(side_);
  const auto selected = widget.selected();
  if (table == nullptr || !selected) return;
  const std::vector<uint32_t> rows = hot_rows(*table);
  const auto at = std::ranges::find(rows, *selected);
  if (rows.empty()) return;
  if (at == rows.end())
    widget.select(rows.front());
  else if (forward && at + 1 != rows.end())
    widget.select(*(at + 1));
  else if (!forward && at != rows.begin())
    widget.select(*(at - 1));
  widget.center();
}

/// A jump inside of the function moves there; a call opens the function that is called.
void AnnotateScreen::follow() {
  const auto row = halves_[kCode].widget.selected();
  const view::Table* code = table_of(kCode);
  if (side_ != kCode || !row || code == nullptr) return;
  const std::string target = cell_of(*code, *row, "to");
  for (uint32_t i = 0; i < code->rows.size() && !target.empty(); ++i) {
    if (address_of(*code, i) == target)
      return halves_[kCode].widget.select(i), halves_[kCode].widget.center();
  }
  show({.function = cell_of(*code, *row, "callee")});
}

bool AnnotateScreen::act(Action action) {
  switch (action) {
    case Action::kLeft:
      other_side(kSource);
      return true;
    case Action::kRight:
      other_side(kCode);
      return true;
    case Action::kPreviousSibling:
      next_part(-1);
      break;
    case Action::kNextSibling:
      next_part(1);
      break;
    case Action::kNextHot:
      next_hot(true);
      break;
    case Action::kPreviousHot:
      next_hot(false);
      break;
    case Action::kHottest:
      show_part(side_, halves_[side_].part);
      break;
    case Action::kOpen:
      follow();
      break;
    case Action::kNextSort:
      mode_ = Mode((uint8_t(mode_) + 1) % 3);
      if (!visible(side_)) side_ = side_ == kSource ? kCode : kSource;
      return true;
    case Action::kArrows:
      jumps_ = !jumps_;
      break;
    case Action::kUndo:
      if (!path_.go_back(workspace_.steps())) return false;
      moved_ = false;
      make_again();
      return true;
    default:
      if (!halves_[side_].widget.act(action)) return false;
  }
  if (up_to_date()) after_move();
  moved_ = true;
  return true;
}

bool AnnotateScreen::click(Point at) {
  for (const Side side : {kCode, kSource}) {
    const Point corner = halves_[side].corner;
    // Corners are those of the canvas, as the App's two lines stand above the screen.
    if (!visible(side) || at.row + 2 < corner.row || at.column < corner.column) continue;
    side_ = side;
    moved_ = true;
    const bool again = at.row + 2 > corner.row &&
                       halves_[side].widget.click({at.row + 1 - corner.row, at.column - corner.column});
    after_move();
    return again;
  }
  return false;
}

/// It shows one function in all of its rows, in the order of its code.
bool AnnotateScreen::has_use(Action action) const {
  constexpr Action kNone[] = {Action::kKeep,     Action::kOnlyThread, Action::kOnlyModule,
                              Action::kAnnotate, Action::kNextSort,   Action::kUnits};
  return std::ranges::find(kNone, action) == std::end(kNone);
}

Subject AnnotateScreen::subject() const {
  if (path_.empty()) return {};
  return {.function = path_.last().function, .place = path_.last().place};
}

Detail AnnotateScreen::detail() const {
  if (!made_) return {};
  Detail detail{chosen(path_.last()), ""};
  const auto row = halves_[side_].widget.selected();
  if (const view::Table* table = table_of(side_); row && table != nullptr) {
    const std::string text = cell_of(*table, *row, side_ == kSource ? "Source" : "Instruction");
    if (const size_t begin = text.find_first_not_of(" \t"); begin != std::string::npos)
      detail.name = text.substr(begin);
    if (const double share = share_of(*table, *row); share > 0)
      // Samples can be late by an instruction.
      detail.more = fmt::format("{:.1f}% of it here{}", 100 * share, side_ == kCode ? " or one before" : "");
  }
  return detail;
}

bool AnnotateScreen::search(const analyze::Pattern& pattern, Direction direction, bool again) {
  TableWidget& widget = halves_[side_].widget;
  widget.set_match(pattern);
  const bool found = table_of(side_) != nullptr && widget.search(pattern, direction, again);
  if (found) after_move(), moved_ = true;
  return found;
}

std::function<void()> AnnotateScreen::way_back_in_view() {
  return [this, moved = moved_, source = halves_[kSource].widget.way_back(),
          code = halves_[kCode].widget.way_back()] {
    source(), code();
    after_move();      // for the marks;
    source(), code();  // it has moved the other side
    moved_ = moved;
  };
}

}  // namespace varve::tui
