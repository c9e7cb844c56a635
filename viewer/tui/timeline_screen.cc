// SPDX-License-Identifier: MIT
// See timeline_screen.h.
// Context: viewer.
#include "viewer/tui/timeline_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viewer/analyze/timeline_path.h"
#include "viewer/render/bars.h"
#include "viewer/render/numbers.h"
#include "viewer/tui/next_match.h"
#include "viewer/tui/row_words.h"
#include "viewer/tui/scroll.h"
#include "viewer/view/band_words.h"

namespace varve::tui {
namespace {

constexpr size_t kNameColumns = 16;  // columns of threads' names
constexpr size_t kAfter = 9;         // of their CPU time
constexpr size_t kTick = 12;         // columns between times on the axis
constexpr size_t kMostGraphRows = 8;
constexpr Style kPath{.ink = Ink::kAccent, .bold = true};

constexpr size_t kMostLevel = 10;  // that a letter says: any from there on

/// The level that a letter of a level strip says: "3", "+" from ten on, "." for hardly any.
size_t level_of(char letter) {
  return letter >= '0' && letter <= '9' ? size_t(letter - '0') : letter == '+' ? kMostLevel : 0;
}

Style state_style(char letter) {
  if (letter == 'R') return {.ink = Ink::kIdeal};
  if (letter == 'r') return {.ink = Ink::kReady};
  return kDim;
}

}  // namespace

void TimelineScreen::refresh(size_t slices) {
  const bool outdated = this->outdated();
  if (!outdated && !std::exchange(changed_, false) && slices_ == slices) return;
  if (asked_anew()) zooms_.clear(), unmark();
  const Pointed before = pointed();
  if (line_ < threads_.size()) thread_ = ids_of(made_->tables.front(), uint32_t(threads_[line_]));
  slices_ = slices;
  const auto tune = [&](view::Request& request) {
    request.slices = slices;
    if (by_object_) request.by = view::By::kObject;
  };
  made_ = zooms_.empty()
              ? workspace_.make("timeline", tune)
              : workspace_.make_range("timeline", {zooms_.back().begin}, {zooms_.back().end}, tune);
  levels_.clear();
  threads_.clear();
  if (!made_) return point_at(before);
  begin_ = end_ = 0;
  for (const view::Fact& fact : made_->facts) {
    const auto* ns = std::get_if<uint64_t>(&fact.value);
    if (ns != nullptr && fact.id == "begin_ns") begin_ = *ns;
    if (ns != nullptr && fact.id == "end_ns") end_ = *ns;
  }
  if (made_->tables.empty() || made_->tables.front().id != "threads") return point_at(before);
  const view::Table& table = made_->tables.front();
  for (size_t i = 0; i < table.rows.size(); ++i)
    (table.rows[i].kind == view::RowKind::kSpecial ? levels_ : threads_).push_back(i);
  point_at(before);
  for (size_t i = 0; i < threads_.size(); ++i)
    if (ids_of(table, uint32_t(threads_[i])) == thread_) line_ = i;
}

TimelineScreen::Pointed TimelineScreen::pointed() const {
  Pointed now{middle_of(cursor_), std::nullopt, std::nullopt};
  if (mark_) now.mark = middle_of(*mark_);
  if (mark_end_) now.mark_end = middle_of(*mark_end_);
  return now;
}

void TimelineScreen::point_at(const Pointed& before) {
  cursor_ = slice_at(before.cursor);
  if (before.mark) mark_ = slice_at(*before.mark);
  if (before.mark_end) mark_end_ = slice_at(*before.mark_end);
  select(line_);
}

/// The last one, of a line that is there no more.
void TimelineScreen::select(size_t line) {
  line_ = std::min(line, threads_.empty() ? 0 : threads_.size() - 1);
}

std::string_view TimelineScreen::strip_of(size_t row, std::string_view column) const {
  const view::Table& table = made_->tables.front();
  for (size_t j = 0; j < table.columns.size(); ++j)
    if (table.columns[j].id == column)
      if (const auto* text = std::get_if<std::string_view>(&table.row(row)[j])) return *text;
  return {};
}

/// Whole numbers: a product of doubles may round beyond the last time there is.
uint64_t TimelineScreen::time_at(size_t slice) const {
  if (slices_ == 0) return begin_;
  const uint64_t whole = end_ - begin_, slices = std::min(slice, slices_);
  return begin_ + whole / slices_ * slices + whole % slices_ * slices / slices_;
}

uint64_t TimelineScreen::middle_of(size_t slice) const {
  return time_at(slice) + (time_at(slice + 1) - time_at(slice)) / 2;
}

/// The nearest, of a time that is not shown.
size_t TimelineScreen::slice_at(uint64_t time) const {
  if (end_ <= begin_ || slices_ == 0) return 0;
  const uint64_t inside = std::clamp(time, begin_, end_ - 1) - begin_;
  return std::min(size_t(double(inside) / double(end_ - begin_) * double(slices_)), slices_ - 1);
}

void TimelineScreen::draw_axis(Pane& pane, size_t row) const {
  pane.put(row, 0, "time", kDim);
  for (size_t slice = 0; slice < slices_; slice += kTick) {
    const std::string time = fmt::format("|{:.3f} s", double(time_at(slice)) / 1e9);
    if (slice + time.size() <= slices_) pane.put(row, kNameColumns + slice, time, kDim, kTick);
  }
}

/// Threads that ran, as columns of blocks; "running" is the first of the level rows that says so.
size_t TimelineScreen::draw_levels(Pane& pane, size_t row, size_t height) const {
  const view::Table& table = made_->tables.front();
  for (const size_t each : levels_) {
    const std::string name = cell_of(table, uint32_t(each), "name");
    const std::string_view strip = strip_of(each, "states");
    if (name != "[running]") {
      pane.put_name(row, 0, name, kNameColumns - 1, kDim);
      pane.put(row++, kNameColumns, strip, kDim, slices_);
      continue;
    }
    size_t most = 1;
    for (const char letter : strip) most = std::max(most, level_of(letter));
    const size_t rows = std::min({height, most, kMostGraphRows});
    for (size_t i = 0; i < rows; ++i) {
      const size_t level = (rows - i) * most / rows;  // a block is there from this level on
      pane.put(row, 0, i == 0 ? fmt::format("running {}{}", most, most >= kMostLevel ? "+" : "") : "", kDim);
      for (size_t slice = 0; slice < strip.size(); ++slice)
        if (level_of(strip[slice]) >= level)
          pane.repeat(row, kNameColumns + slice, pane.look().utf8 ? U'█' : U'#', 1, {.ink = Ink::kAccent});
      ++row;
    }
  }
  return row;
}

/// The critical path is bold, with an arrow where it comes from another thread.
void TimelineScreen::draw_strip(Pane& pane, size_t row, std::string_view strip, std::string_view path) const {
  const bool utf8 = pane.look().utf8;
  const render::TextStyle text{0, utf8 ? render::Charset::kUtf8 : render::Charset::kAscii, false};
  for (size_t i = 0; i < strip.size(); ++i) {
    const char on = i < path.size() ? path[i] : analyze::kOffPath;
    const Style style = on == analyze::kOffPath ? state_style(strip[i]) : kPath;
    if (on == analyze::kPathFromAbove)
      pane.put(row, kNameColumns + i, utf8 ? "↓" : "v", style, 1);
    else if (on == analyze::kPathFromBelow)
      pane.put(row, kNameColumns + i, utf8 ? "↑" : "^", style, 1);
    else
      pane.put(row, kNameColumns + i, render::strip_text(strip.substr(i, 1), text), style, 1);
  }
}

void TimelineScreen::draw_thread(Pane& pane, size_t row, size_t line) const {
  const view::Table& table = made_->tables.front();
  const auto at = uint32_t(threads_[line]);
  const Style style{.reverse = line == line_};
  pane.repeat(row, 0, U' ', kNameColumns - 1, style);
  pane.put_name(row, 0, cell_of(table, at, "name"), kNameColumns - 1, style);
  draw_strip(pane, row, strip_of(at, "states"), strip_of(at, "path"));
  pane.put(row, kNameColumns + slices_ + 1,
           fmt::format("{:>7.2f}", double(number_of(table, at, "cpu_ns")) / 1e9));
}

void TimelineScreen::draw_cursor(Pane& pane, size_t row) const {
  const auto seconds = [&](size_t slice) { return double(time_at(slice)) / 1e9; };
  std::string words = fmt::format("{:.3f} s", seconds(cursor_));
  if (const auto range = marked()) {
    pane.repeat(row, kNameColumns + range->first, U'=', range->second - range->first, kBold);
    words = fmt::format("{:.3f} to {:.3f} s", seconds(range->first), seconds(range->second));
  }
  pane.put(row, kNameColumns + cursor_, "^", kBold);
  const size_t right = kNameColumns + cursor_ + 2;
  pane.put(row, right + words.size() < pane.columns() ? right : kNameColumns + cursor_ - words.size() - 1,
           words, kBold);
}

void TimelineScreen::draw(Pane pane) {
  refresh(pane.columns() > kNameColumns + kAfter + 8 ? pane.columns() - kNameColumns - kAfter : 8);
  if (!made_ || threads_.empty()) {
    pane.put_name(0, 0,
                  !made_                 ? made_.error()
                  : made_->notes.empty() ? "No thread was observed."
                                         : made_->notes.front(),
                  pane.columns());
    return;
  }
  draw_axis(pane, 0);
  pane.put(0, kNameColumns + slices_ + 1, "  CPU s", kDim);
  const size_t at = draw_levels(pane, 1, pane.rows() / 4);
  threads_at_ = at;
  constexpr size_t kBelow = 2;  // the cursor and the legend
  page_ = pane.rows() > at + kBelow ? pane.rows() - at - kBelow : 1;
  top_ = std::min(top_, line_);
  if (line_ >= top_ + page_) top_ = line_ - page_ + 1;
  for (size_t i = 0; i < page_ && top_ + i < threads_.size(); ++i) draw_thread(pane, at + i, top_ + i);
  const size_t shown = std::min(page_, threads_.size() - top_);
  draw_cursor(pane, at + shown);
  std::string legend;
  const auto charset = pane.look().utf8 ? render::Charset::kUtf8 : render::Charset::kAscii;
  const render::TextStyle style{0, charset, false};
  // Of objects it is what the program named them: a file, a socket.
  for (const auto& [letter, meaning] : made_->legend)
    legend +=
        fmt::format("{} {}  ", render::strip_text({&letter, 1}, style), render::escape(meaning, charset));
  if (!strip_of(threads_.front(), "path").empty())
    legend += pane.look().utf8 ? "bold ↓ ↑ the critical path" : "bold v ^ the critical path";
  pane.put(std::min(at + shown + 1, pane.rows() - 1), 0, legend, kDim);
}

void TimelineScreen::move(ptrdiff_t slices) {
  if (slices_ == 0) return;  // not drawn yet
  cursor_ = size_t(std::clamp(ptrdiff_t(cursor_) + slices, ptrdiff_t(0), ptrdiff_t(slices_) - 1));
}

std::optional<std::pair<size_t, size_t>> TimelineScreen::marked() const {
  if (!mark_) return std::nullopt;
  const auto [from, to] = std::minmax({*mark_, mark_end_.value_or(cursor_)});
  return std::pair(from, to + 1);
}

/// A quarter of what is shown, around the cursor; or the marked range.
void TimelineScreen::zoom(bool in) {
  if (!in) {
    if (zooms_.empty()) return;
    zooms_.pop_back();
  } else {
    const size_t left = cursor_ - std::min(cursor_, slices_ / 8);
    const auto [from, to] = marked().value_or(std::pair(left, std::min(left + slices_ / 4, slices_)));
    const Range range{time_at(from), time_at(to)};
    if (range.end <= range.begin + slices_) return;  // a nanosecond a slice is the end
    zooms_.push_back(range);
    unmark();  // it is all that is shown
  }
  changed_ = true;
}

bool TimelineScreen::act(Action action) {
  switch (action) {
    case Action::kLeft:
      move(-1);
      return true;
    case Action::kRight:
      move(1);
      return true;
    case Action::kPreviousSibling:
      move(-ptrdiff_t(slices_ / 8));
      return true;
    case Action::kNextSibling:
      move(ptrdiff_t(slices_ / 8));
      return true;
    case Action::kMark:
      if (mark_ && !mark_end_)
        mark_end_ = cursor_;
      else
        mark_ = cursor_, mark_end_.reset();
      return true;
    case Action::kOpen:
    case Action::kUnfold:
      zoom(true);
      return true;
    case Action::kFold:
      zoom(false);
      return true;
    case Action::kEscape:
      if (!mark_ && zooms_.empty()) return false;
      if (mark_)
        unmark();
      else
        zoom(false);
      return true;
    case Action::kNextSort:
      by_object_ = !by_object_;
      changed_ = true;
      return true;
    default:
      return scroll(action, page_, threads_.size(), line_);
  }
}

bool TimelineScreen::click(Point at) {
  if (at.column >= kNameColumns && at.column < kNameColumns + slices_) cursor_ = at.column - kNameColumns;
  if (at.row >= threads_at_ && at.row - threads_at_ + top_ < threads_.size())
    line_ = at.row - threads_at_ + top_;
  return false;
}

void TimelineScreen::set_range(Subject& subject, size_t from, size_t to) const {
  subject.range = fmt::format("{}ns-{}ns", time_at(from), time_at(to));
  // As many digits as tell one slice from the next.
  render::TimeScale scale = render::time_scale(end_);
  const uint64_t slice = (end_ - begin_) / std::max<size_t>(slices_, 1);
  int digits = 0;
  for (uint64_t step = scale.nanos; step > std::max<uint64_t>(slice, 1); step /= 10)
    scale.decimals = std::max(scale.decimals, ++digits);
  subject.range_words = fmt::format("{}..{} {}", render::time_number(time_at(from), scale),
                                    render::time_number(time_at(to), scale), scale.unit);
}

/// Rows are threads in a fixed order.
bool TimelineScreen::has_use(Action action) const {
  constexpr Action kNone[] = {Action::kKeep,     Action::kOnlyModule, Action::kOnlyFunction,
                              Action::kAnnotate, Action::kNextSort,   Action::kUnits};
  return std::ranges::find(kNone, action) == std::end(kNone);
}

Subject TimelineScreen::subject() const {
  if (!made_ || threads_.empty()) return {};
  Subject subject;
  subject.thread = cell_of(made_->tables.front(), uint32_t(threads_[line_]), "tid");
  if (const auto range = marked())
    set_range(subject, range->first, range->second);
  else if (!zooms_.empty())
    set_range(subject, 0, slices_);
  return subject;
}

Detail TimelineScreen::detail() const {
  if (!made_ || threads_.empty()) return {};
  const auto letter = [&](std::string_view column) {
    const std::string_view strip = strip_of(threads_[line_], column);
    return cursor_ < strip.size() ? strip[cursor_] : ' ';
  };
  const auto meant =
      std::ranges::find(made_->legend, letter("states"), [](auto& entry) { return entry.first; });
  const std::string_view meaning = meant != made_->legend.end() ? meant->second : "";
  const std::string_view path = letter("path") == analyze::kOffPath ? "" : ", on the critical path";
  const view::Table& table = made_->tables.front();
  return {fmt::format("{:.3f} s  {} (TID {}): {}{}", double(time_at(cursor_)) / 1e9,
                      cell_of(table, uint32_t(threads_[line_]), "name"),
                      cell_of(table, uint32_t(threads_[line_]), "tid"),
                      meaning.empty() ? "not alive" : meaning, path),
          ""};
}

bool TimelineScreen::search(const analyze::Pattern& pattern, Direction direction, bool again) {
  const auto fits = [&](size_t line) {
    return pattern.matches(cell_of(made_->tables.front(), uint32_t(threads_[line]), "name"));
  };
  const auto line = next_match(threads_.size(), line_, direction, again, fits);
  if (line) line_ = *line;
  return line.has_value();
}

std::function<void()> TimelineScreen::way_back_in_view() {
  return [this, line = line_, top = top_] { select(line), top_ = top; };
}

}  // namespace varve::tui
