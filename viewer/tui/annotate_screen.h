// SPDX-License-Identifier: MIT
// AnnotateScreen: one function by source line and by instruction, side by side where there is room, else one
// above the other. The instructions of the selected line are marked, and the line of the selected
// instruction is selected with it. Context: viewer.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "viewer/tui/function_path.h"
#include "viewer/tui/view_screen.h"

namespace varve::tui {

class AnnotateScreen : public ViewScreen {
 public:
  explicit AnnotateScreen(Workspace& workspace) : ViewScreen(workspace, "No function has any time.") {}

  void draw(Pane pane) override;
  bool act(Action action) override;
  bool click(Point at) override;
  Subject subject() const override;
  Detail detail() const override;
  bool search(const analyze::Pattern& pattern, Direction direction, bool again) override;
  bool show(const Subject& subject) override;
  std::string_view keys() const override { return "h l side  . , hot  s mode  Enter call"; }
  bool has_use(Action action) const override;

 protected:
  std::function<void()> way_back_in_view() override;

 private:
  enum Side : uint8_t { kSource, kCode };
  enum class Mode : uint8_t { kBoth, kSource, kCode };

  /// One side: its tables (files, or stretches of code) and the one that is shown.
  struct Half {
    std::vector<size_t> tables;
    size_t part = 0;
    TableWidget widget;
    Point corner;
  };

  void refresh();
  void find_tables();
  struct Place {
    std::string title, row;  // of a table, and what names the row in it
  };
  Place place(Side side) const;
  void go_to(Side side, const Place& place);
  void show_part(Side side, size_t part);
  void draw_half(Pane pane, Side side);
  bool visible(Side side) const;
  void other_side(Side side);
  void next_part(ptrdiff_t step);
  void next_hot(bool forward);
  void follow();
  void select_instructions_of_line();
  void select_line_of_instruction();
  void mark_jumps();
  void after_move();
  std::string place_of_line() const;
  const view::Table* table_of(Side side) const;
  std::string title_of(Side side) const;
  std::string parts_of(Side side) const;  // "(1 of 3 ...)", where there are several
  bool has_source() const;
  bool only_note() const;
  void draw_note(Pane& pane, const std::string& words, Style style) const;

  FunctionPath path_;
  std::array<Half, 2> halves_;
  uint64_t code_revision_ = 0;
  Side side_ = kSource;
  Mode mode_ = Mode::kBoth;
  bool jumps_ = true;
  bool moved_ = false;                             // the cursor is where the user put it
  std::pair<Side, Place> before_ = {kSource, {}};  // where it was when there was a view last
  bool stacked_ = false;                           // as drawn last: no room for both sides beside each other
};

}  // namespace varve::tui
