// SPDX-License-Identifier: MIT
// PairScreen: a list, and below it other tables of the same view, which belong to the selected row or to the
// whole: as many as there is room for. Context: viewer.
#pragma once

#include <string>
#include <vector>

#include "viewer/tui/list_screen.h"

namespace varve::tui {

class PairScreen : public ListScreen {
 public:
  /// A table below, by its id. `link`: a column that both have; only rows with what the selected row has
  /// there stand below. Empty: all do.
  struct Below {
    std::string id, link;
  };
  PairScreen(Workspace& workspace, std::string kind, const std::vector<Below>& below);

  void draw(Pane pane) override;
  /// What it shows is no CPU time.
  bool has_use(Action action) const override {
    return action != Action::kMetric && ListScreen::has_use(action);
  }
  bool click(Point at) override { return at.row < top_rows_ && ListScreen::click(at); }

 private:
  struct Lower {
    Below what;
    TableWidget widget = {};
    const view::Table* shown = nullptr;  // what the widget was given

    /// With its title and heading; 0 without rows.
    size_t wanted_rows() const { return widget.rows().empty() ? 0 : widget.rows().size() + 2; }
  };

  void refresh_lower(Lower& lower);
  void choose_rows(Lower& lower);
  std::vector<size_t> shares(size_t rows) const;
  void draw_lower(Lower& lower, Pane pane) const;

  std::vector<Lower> lower_;
  size_t top_rows_ = 0;  // of the pane last drawn
};

}  // namespace varve::tui
