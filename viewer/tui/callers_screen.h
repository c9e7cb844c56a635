// SPDX-License-Identifier: MIT
// CallersScreen: one function, who calls it above, whom it calls below; Enter goes on to the selected one.
// Context: viewer.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "viewer/tui/screen.h"
#include "viewer/tui/table_widget.h"
#include "viewer/tui/workspace.h"

namespace varve::tui {

class CallersScreen : public Screen {
 public:
  explicit CallersScreen(Workspace& workspace) : workspace_(workspace) {}

  void draw(Pane pane) override;
  bool act(Action action) override;
  bool click(Point at) override;
  Subject subject() const override;
  Detail detail() const override;
  bool search(const analyze::Pattern& pattern, Direction direction, bool again) override;
  bool show(const Subject& subject) override;
  const view::View* shown() const override { return made_ ? &*made_ : nullptr; }

 private:
  static constexpr size_t kParts = 3, kMiddle = 1;

  void refresh();
  void make();
  bool open();
  bool go_back();
  bool step(Action action);
  std::array<size_t, kParts> heights(size_t rows) const;

  Workspace& workspace_;
  uint64_t revision_ = 0;
  Units units_ = Units::kAll;
  std::vector<std::string> path_;  // functions, the shown one last
  view::Made made_ = tl::unexpected(std::string("No function has any time."));
  std::array<TableWidget, kParts> widgets_;
  std::array<size_t, kParts> tops_{};  // rows of the pane where they were drawn
  size_t active_ = kMiddle;
};

}  // namespace varve::tui
