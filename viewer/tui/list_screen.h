// SPDX-License-Identifier: MIT
// ListScreen: a view whose first table is a list: hotspots, threads, modules and the like. Context: viewer.
#pragma once

#include <optional>
#include <string>

#include "viewer/tui/view_screen.h"

namespace varve::tui {

class ListScreen : public TableScreen {
 public:
  ListScreen(Workspace& workspace, std::string kind)
      : TableScreen(workspace, std::move(kind)), asked_sort_(workspace.request().sort) {}

  bool act(Action action) override;
  bool sort_at(Point at) override;
  bool search(const analyze::Pattern& pattern, Direction direction, bool again) override;
  bool keep(const analyze::Pattern& pattern) override;

 protected:
  std::function<void()> way_back_in_view() override;
  void refresh() override;
  /// What this screen asks for beside what the workspace does.
  virtual void tune(view::Request&) const {}

 private:
  void order_rows();
  void select_again(const std::string& name, const std::string& ids);
  std::optional<size_t> sorted() const;
  void keep_order();
  void sort_by(size_t column);
  void next_sort(ptrdiff_t step);

  analyze::Pattern kept_;
  std::optional<view::Column> sorted_by_;  // nothing: as the view has it
  view::Sort asked_sort_;                  // when the view was made last
  bool reverse_ = false;
};

}  // namespace varve::tui
