// SPDX-License-Identifier: MIT
// PairScreen: a list, and below it another table of the same view, which belongs to the selected row or to
// the whole. Context: viewer.
#pragma once

#include <string>

#include "viewer/tui/list_screen.h"

namespace varve::tui {

class PairScreen : public ListScreen {
 public:
  /// `below`: the id of the lower table. `link`: a column that both have; only rows with the selected row's
  /// text stand below. Empty: all do.
  PairScreen(Workspace& workspace, std::string kind, std::string below, std::string link)
      : ListScreen(workspace, std::move(kind)), below_(std::move(below)), link_(std::move(link)) {}

  void draw(Pane pane) override;
  /// What it shows is no CPU time.
  bool has_use(Action action) const override { return action != Action::kMetric; }
  bool click(Point at) override { return at.row < top_rows_ && ListScreen::click(at); }

 private:
  const view::Table* lower_table() const;
  void choose_rows(const view::Table& lower);

  const std::string below_, link_;
  TableWidget lower_;
  const view::Table* shown_ = nullptr;  // what `lower_` was given
  size_t top_rows_ = 0;                 // of the pane last drawn
};

}  // namespace varve::tui
