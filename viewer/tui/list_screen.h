// SPDX-License-Identifier: MIT
// ListScreen: a view whose first table is a list: hotspots, threads, modules and the like. Context: viewer.
#pragma once

#include <optional>
#include <string>

#include "viewer/tui/screen.h"
#include "viewer/tui/table_widget.h"
#include "viewer/tui/workspace.h"

namespace varve::tui {

class ListScreen : public Screen {
 public:
  ListScreen(Workspace& workspace, std::string kind) : workspace_(workspace), kind_(std::move(kind)) {}

  void draw(Pane pane) override;
  bool act(Action action) override;
  bool click(Point at) override;
  bool sort_at(Point at) override;
  Subject subject() const override;
  Detail detail() const override;
  bool search(const analyze::Pattern& pattern, Direction direction, bool again) override;
  bool keep(const analyze::Pattern& pattern) override;
  const view::View* shown() const override { return made_ ? &*made_ : nullptr; }

 protected:
  void refresh();

 private:
  void order_rows();
  void sort_by(size_t column);
  void next_sort(ptrdiff_t step);

  Workspace& workspace_;
  std::string kind_;
  uint64_t revision_ = 0;
  Units units_ = Units::kAll;
  view::Made made_ = tl::unexpected(std::string());
  TableWidget widget_;
  analyze::Pattern kept_;
  std::optional<size_t> sorted_;  // nothing: as the view has it
  bool reverse_ = false;
};

}  // namespace varve::tui
