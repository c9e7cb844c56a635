// SPDX-License-Identifier: MIT
// SummaryScreen: the run in numbers, elapsed time by level of concurrency, what the numbers say in words, and
// the hottest functions, one of which is selected. Context: viewer.
#pragma once

#include "viewer/tui/list_screen.h"

namespace varve::tui {

class SummaryScreen : public ListScreen {
 public:
  explicit SummaryScreen(Workspace& workspace) : ListScreen(workspace, "hotspots") {}

  void draw(Pane pane) override;
  bool click(Point at) override;
  bool sort_at(Point at) override;
  const view::View* shown() const override { return summary_ ? &*summary_ : nullptr; }
  const view::View* summed() const override { return ListScreen::shown(); }
  bool prints_kept() const override { return false; }

 private:
  void refresh() override;
  size_t draw_facts(Pane& pane, size_t row, bool waits) const;
  size_t draw_levels(Pane& pane, size_t row, size_t most) const;

  view::Made summary_ = tl::unexpected(std::string());
  view::Made levels_ = tl::unexpected(std::string());
  size_t list_at_ = 0;
};

}  // namespace varve::tui
