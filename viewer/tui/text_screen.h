// SPDX-License-Identifier: MIT
// TextScreen: a view as its report reads, to scroll through: quality, concurrency, tlp. Context: viewer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viewer/tui/view_screen.h"

namespace varve::tui {

class TextScreen : public ViewScreen {
 public:
  TextScreen(Workspace& workspace, std::string kind) : ViewScreen(workspace), kind_(std::move(kind)) {}

  void draw(Pane pane) override;
  bool act(Action action) override;
  bool search(const analyze::Pattern& pattern, Direction direction, bool again) override;
  bool has_use(Action action) const override;

 protected:
  std::function<void()> way_back_in_view() override;

 private:
  void refresh(size_t columns);

  std::string kind_;
  size_t columns_ = 0, top_ = 0, rows_ = 1;
  std::vector<std::string> lines_;
  analyze::Pattern match_;
  std::optional<size_t> found_;  // the line; the last page cannot be scrolled to each of its lines
};

}  // namespace varve::tui
