// SPDX-License-Identifier: MIT
// ViewScreen: a screen that shows one view, made again when the workspace has changed; TableScreen: one whose
// view is a table with a selected row. Context: viewer.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "viewer/tui/screen.h"
#include "viewer/tui/table_widget.h"
#include "viewer/tui/workspace.h"

namespace varve::tui {

class ViewScreen : public Screen {
 public:
  const view::View* shown() const override { return made_ ? &*made_ : nullptr; }
  /// A view that is made again has other rows: there is no way back then.
  std::function<void()> way_back() override {
    return [this, revision = revision_, back = way_back_in_view()] {
      if (revision_ == revision) back();
    };
  }

 protected:
  /// `trouble`: what stands on the screen where no view could be asked for.
  explicit ViewScreen(Workspace& workspace, std::string trouble = "")
      : workspace_(workspace), made_(tl::unexpected(std::move(trouble))) {}

  virtual std::function<void()> way_back_in_view() = 0;

  /// Whether the view is to be made, the first time and once after each change of the workspace.
  bool outdated() { return std::exchange(revision_, workspace_.revision()) != workspace_.revision(); }
  void make_again() { revision_ = 0; }
  /// Whether another thing is asked than the last time; else folds, marks and places stay what they are.
  bool asked_anew() { return std::exchange(question_, workspace_.question()) != workspace_.question(); }
  bool up_to_date() const { return revision_ == workspace_.revision(); }
  /// Null where there is no view, or none with a table for people.
  const view::Table* first_table() const {
    if (!made_) return nullptr;
    for (const view::Table& table : made_->tables)
      if (!table.only_data) return &table;
    return nullptr;
  }

  Workspace& workspace_;
  view::Made made_;

 private:
  uint64_t revision_ = 0, question_ = 0;
};

class TableScreen : public ViewScreen {
 public:
  void draw(Pane pane) override;
  bool click(Point at) override { return widget_.click(at); }
  Subject subject() const override;
  Detail detail() const override;
  view::View printed() const override;
  /// By what the rows of its table say they are about.
  bool has_use(Action action) const override;

 protected:
  TableScreen(Workspace& workspace, std::string kind) : ViewScreen(workspace), kind_(std::move(kind)) {}

  /// Makes view and rows where that is due.
  virtual void refresh() = 0;
  void follow_units() {
    if (units_ != workspace_.units) widget_.set_units(units_ = workspace_.units);
  }

  const std::string kind_;
  Units units_ = Units::kAll;
  TableWidget widget_;
};

}  // namespace varve::tui
