// SPDX-License-Identifier: MIT
// TextScreen: a view as its report reads, to scroll through: quality, concurrency, tlp. Context: viewer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viewer/tui/screen.h"
#include "viewer/tui/workspace.h"

namespace varve::tui {

class TextScreen : public Screen {
 public:
  TextScreen(Workspace& workspace, std::string kind) : workspace_(workspace), kind_(std::move(kind)) {}

  void draw(Pane pane) override;
  bool act(Action action) override;
  bool search(const analyze::Pattern& pattern, Direction direction, bool again) override;
  const view::View* shown() const override { return made_ ? &*made_ : nullptr; }

 private:
  void refresh(size_t columns);

  Workspace& workspace_;
  std::string kind_;
  uint64_t revision_ = 0;
  size_t columns_ = 0, top_ = 0, rows_ = 1, side_ = 0;
  view::Made made_ = tl::unexpected(std::string());
  std::vector<std::string> lines_;
  analyze::Pattern match_;
  std::optional<size_t> found_;  // the line; the last page cannot be scrolled to each of its lines
};

}  // namespace varve::tui
