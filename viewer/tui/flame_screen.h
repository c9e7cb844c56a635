// SPDX-License-Identifier: MIT
// FlameScreen: the call tree as cells whose width is their time; the root on top (icicle) or at the bottom
// (flame). Context: viewer.
#pragma once

#include <string>
#include <vector>

#include "viewer/tui/view_screen.h"

namespace varve::tui {

class FlameScreen : public ViewScreen {
 public:
  explicit FlameScreen(Workspace& workspace) : ViewScreen(workspace) {}

  void draw(Pane pane) override;
  bool act(Action action) override;
  bool click(Point at) override;
  Subject subject() const override;
  Detail detail() const override;
  bool search(const analyze::Pattern& pattern, Direction direction, bool again) override;
  bool has_use(Action action) const override;

 protected:
  std::function<void()> way_back_in_view() override;

 private:
  enum class Color : uint8_t { kBand, kModule, kNone };

  /// A node of the tree; 0 is the root, which has everything.
  struct Node {
    uint32_t row = UINT32_MAX;  // of the table
    uint32_t parent = 0, depth = 0;
    uint64_t begin = 0, time = 0;        // where it stands among all of the time
    uint32_t first_child = 0, next = 0;  // 0: none
    uint32_t end = 1;                    // the node after all that is below this one
  };
  struct Box {
    uint32_t node;
    size_t row, column, columns;
  };

  void refresh();
  std::vector<uint64_t> keys_to_root(uint32_t node) const;
  uint32_t nearest(const std::vector<uint64_t>& keys_to_root) const;
  void place(size_t rows, size_t columns);
  void draw_box(Pane& pane, const Box& box) const;
  size_t draw_details(Pane pane) const;
  Style style_of(const Node& node) const;
  std::string name_of(uint32_t node) const;
  std::string full_name(uint32_t node) const;
  uint32_t sibling(uint32_t node, bool before) const;
  void select(uint32_t node) { selected_ = node; }
  bool below(uint32_t node, uint32_t above) const;

  std::vector<Node> nodes_{1};
  std::vector<uint64_t> keys_;  // tree_keys() of the table
  std::vector<Box> boxes_;      // as last drawn
  uint32_t selected_ = 0, zoom_ = 0;
  size_t first_level_ = 0;
  bool flame_ = false;
  Color color_ = Color::kBand;
  analyze::Pattern match_;
};

}  // namespace varve::tui
