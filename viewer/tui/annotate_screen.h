// SPDX-License-Identifier: MIT
// AnnotateScreen: one function by source line and by instruction, side by side where there is room, else one
// above the other. The instructions of the selected line are marked, and the line of the selected
// instruction is selected with it. Context: viewer.
#pragma once

#include <array>
#include <string>
#include <vector>

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
  std::string_view keys() const override { return "h l side  . , hot  s mode"; }

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
  bool has_source() const;

  std::vector<Subject> path_;  // functions, the shown one last
  std::array<Half, 2> halves_;
  uint64_t code_revision_ = 0;
  Side side_ = kSource;
  Mode mode_ = Mode::kBoth;
  bool jumps_ = true;
};

}  // namespace varve::tui
