// SPDX-License-Identifier: MIT
// See canvas.h.
// Context: viewer.
#include "viewer/tui/canvas.h"

#include <algorithm>
#include <array>

#include "viewer/render/escape.h"

namespace varve::tui {
namespace {

/// The colours of a saved screen: the base palette, as in reports.
constexpr std::array<const char*, kInks> kForeground = {"39", "90", "31", "33", "32", "34", "31", "32", "36"};
constexpr std::array<const char*, kInks> kBackground = {"49", "100", "41", "43", "42",
                                                        "44", "41",  "42", "46"};

std::string sgr(const Style& style) {
  std::string codes = "0";
  if (style.bold) codes += ";1";
  if (style.dim) codes += ";2";
  if (style.underline) codes += ";4";
  if (style.reverse) codes += ";7";
  if (style.ink != Ink::kDefault) codes += std::string(";") + kForeground[size_t(style.ink)];
  if (style.ground != Ink::kDefault) codes += std::string(";") + kBackground[size_t(style.ground)];
  return "\x1b[" + codes + "m";
}

/// C0, DEL and C1: what a terminal would act on.
bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

}  // namespace

Pane Canvas::whole() { return Pane(*this, {0, 0}, size_); }

std::string Canvas::text(bool colored) const {
  std::string out;
  for (size_t row = 0; row < size_.rows; ++row) {
    size_t end = size_.columns;
    const auto blank = [&](const Cell& cell) {
      return cell.code == U' ' && (!colored || cell.style == Style{});
    };
    while (end > 0 && blank(at(row, end - 1)) && at(row, end - 1).width != 0) --end;
    Style now;
    for (size_t column = 0; column < end; ++column) {
      const Cell& cell = at(row, column);
      if (cell.width == 0) continue;
      if (colored && !(cell.style == now)) out += sgr(now = cell.style);
      render::append_utf8(out, cell.code);
    }
    if (colored && !(now == Style{})) out += "\x1b[0m";
    out += '\n';
  }
  return out;
}

Pane Pane::below(size_t row, size_t rows) const {
  const size_t from = std::min(row, size_.rows);
  return Pane(*canvas_, {corner_.row + from, corner_.column},
              {std::min(rows, size_.rows - from), size_.columns});
}

Pane Pane::right_of(size_t column, size_t columns) const {
  const size_t from = std::min(column, size_.columns);
  return Pane(*canvas_, {corner_.row, corner_.column + from},
              {size_.rows, std::min(columns, size_.columns - from)});
}

void Pane::set(size_t row, size_t column, char32_t code, uint8_t width, Style style) {
  const size_t r = corner_.row + row, c = corner_.column + column;
  // A wide character that loses one of its halves is gone.
  const auto clear = [&](size_t at) { canvas_->at(r, at).code = U' ', canvas_->at(r, at).width = 1; };
  Cell& cell = canvas_->at(r, c);
  if (cell.width == 0) clear(c - 1);
  const size_t end = c + width;
  if (end < canvas_->size().columns && canvas_->at(r, end).width == 0) clear(end);
  cell = {code, width, style};
  if (width == 2) canvas_->at(r, c + 1) = {U' ', 0, style};
}

size_t Pane::put(size_t row, size_t column, std::string_view text, Style style, size_t room) {
  if (row >= size_.rows || column >= size_.columns) return column;
  const size_t end = column + std::min(room, size_.columns - column);
  while (!text.empty()) {
    render::Character next = render::next_character(text);
    text.remove_prefix(next.bytes);
    if ((next.code >= 0x80 && !look().utf8) || is_control(next.code)) next.code = U'?';
    const size_t width = render::character_width(next.code);
    if (width == 0 || width > 2) continue;
    if (column + width > end) break;
    set(row, column, next.code, uint8_t(width), style);
    column += width;
  }
  return column;
}

size_t Pane::put_name(size_t row, size_t column, std::string_view name, size_t room, Style style) {
  if (column >= size_.columns) return column;
  const auto charset = look().utf8 ? render::Charset::kUtf8 : render::Charset::kAscii;
  const size_t width = std::min(room, size_.columns - column);
  return put(row, column, render::elide_middle(render::escape(name, charset), width), style, width);
}

void Pane::repeat(size_t row, size_t column, char32_t code, size_t count, Style style) {
  if (row >= size_.rows) return;
  const size_t end = std::min(size_.columns, column + std::min(count, size_.columns));
  for (; column < end; ++column) set(row, column, code, 1, style);
}

void Pane::restyle(size_t row, Style style, size_t column, size_t columns) {
  if (row >= size_.rows) return;
  const size_t end = std::min(size_.columns, column + std::min(columns, size_.columns));
  for (; column < end; ++column) canvas_->at(corner_.row + row, corner_.column + column).style = style;
}

}  // namespace varve::tui
