// SPDX-License-Identifier: MIT
// CallersScreen: one function, who calls it above, whom it calls below; Enter goes on to the selected one.
// Context: viewer.
#pragma once

#include <array>
#include <string>

#include "viewer/tui/function_path.h"
#include "viewer/tui/view_screen.h"

namespace varve::tui {

class CallersScreen : public ViewScreen {
 public:
  explicit CallersScreen(Workspace& workspace) : ViewScreen(workspace, "No function has any time.") {}

  void draw(Pane pane) override;
  bool act(Action action) override;
  bool click(Point at) override;
  Subject subject() const override;
  Detail detail() const override;
  bool search(const analyze::Pattern& pattern, Direction direction, bool again) override;
  bool show(const Subject& subject) override;
  bool has_use(Action action) const override;

 protected:
  std::function<void()> way_back_in_view() override;

 private:
  static constexpr size_t kParts = 3, kMiddle = 1;

  void refresh();
  void make();
  bool open();
  bool step(Action action);
  std::array<size_t, kParts> heights(size_t rows) const;

  Units units_ = Units::kAll;
  FunctionPath path_;
  std::string shown_;  // when the view was made last
  std::array<TableWidget, kParts> widgets_;
  std::array<size_t, kParts> tops_{};  // rows of the pane where they were drawn
  size_t active_ = kMiddle;
};

}  // namespace varve::tui
