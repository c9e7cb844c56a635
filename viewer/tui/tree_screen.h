// SPDX-License-Identifier: MIT
// TreeScreen: a call tree that folds. It opens along the hot path. Context: viewer.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "viewer/tui/view_screen.h"

namespace varve::tui {

class TreeScreen : public TableScreen {
 public:
  TreeScreen(Workspace& workspace, std::string kind) : TableScreen(workspace, std::move(kind)) {}

  bool act(Action action) override;
  Detail detail() const override;
  bool search(const analyze::Pattern& pattern, Direction direction, bool again) override;
  bool show_hot_path(const Subject& subject) override;
  bool keep(const analyze::Pattern& pattern) override;
  /// The view has its order.
  bool has_use(Action action) const override {
    return action != Action::kNextSort && TableScreen::has_use(action);
  }

 protected:
  std::function<void()> way_back_in_view() override;

 private:
  void refresh() override;
  void find_family();
  void find_kept();
  void show_rows();
  bool stands(uint32_t row) const { return kept_.empty() || kept_[row]; }
  bool has_children(uint32_t row) const { return row + 1 < end_[row]; }
  bool heavy_child(uint32_t row) const;
  void open_hot_path(uint32_t from);
  /// What is unfolded and selected, by tree_keys().
  struct Folds {
    std::unordered_map<uint64_t, bool> open;
    std::optional<uint64_t> selected;
  };
  Folds folds() const;
  void fold_as(const Folds& before);
  void select_key(uint64_t key);
  void set_open_below(uint32_t row, bool open);
  void set_open_levels(uint32_t row, bool open);
  uint32_t open_heavy(uint32_t row);
  void open_parents(uint32_t row);
  void toggle();
  void left();
  void right();
  void sibling(ptrdiff_t step);

  std::vector<uint32_t> parent_;  // of each row; UINT32_MAX: none
  std::vector<uint32_t> end_;     // the row after all that is below a row
  std::vector<bool> open_;
  analyze::Pattern keep_;
  std::vector<bool> kept_;  // rows with a match and their parents; empty: all
};

}  // namespace varve::tui
