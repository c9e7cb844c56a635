// SPDX-License-Identifier: MIT
// FactsScreen: what a view says in sentences, and below its first table, as a list. Context: viewer.
#pragma once

#include <string>

#include "viewer/tui/list_screen.h"

namespace varve::tui {

class FactsScreen : public ListScreen {
 public:
  FactsScreen(Workspace& workspace, std::string kind) : ListScreen(workspace, std::move(kind)) {}

  void draw(Pane pane) override;
  /// The view chooses its moments itself.
  bool has_use(Action action) const override {
    return action != Action::kMetric && ListScreen::has_use(action);
  }
  bool click(Point at) override {
    return at.row >= list_at_ && ListScreen::click({at.row - list_at_, at.column});
  }
  bool sort_at(Point at) override {
    return at.row >= list_at_ && ListScreen::sort_at({at.row - list_at_, at.column});
  }

 private:
  /// As in text: small rows of the first kind would hide those of the next.
  void tune(view::Request& request) const override {
    if (request.min_share == 0) request.min_share = view::kTextTreeShare;
  }

  size_t list_at_ = 0;  // row of the pane last drawn
};

}  // namespace varve::tui
