// SPDX-License-Identifier: MIT
// TimelineScreen: threads by time, a letter a slice, below the number of threads that ran. A range marked in
// it can become the filter of all other screens. Context: viewer.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viewer/tui/view_screen.h"

namespace varve::tui {

class TimelineScreen : public ViewScreen {
 public:
  explicit TimelineScreen(Workspace& workspace) : ViewScreen(workspace) {}

  void draw(Pane pane) override;
  bool act(Action action) override;
  bool click(Point at) override;
  Subject subject() const override;
  Detail detail() const override;
  bool search(const analyze::Pattern& pattern, Direction direction, bool again) override;
  std::string_view keys() const override { return "Space mark  f range  +- zoom  s objects"; }
  bool has_use(Action action) const override;

 protected:
  std::function<void()> way_back_in_view() override;

 private:
  /// Slices of time; none: the whole of it.
  struct Range {
    uint64_t begin, end;  // ns since the start of the run
  };

  /// The moments that are pointed at, in ns since the start of the run: of other slices others would be.
  struct Pointed {
    uint64_t cursor;
    std::optional<uint64_t> mark, mark_end;
  };

  void refresh(size_t slices);
  Pointed pointed() const;
  void point_at(const Pointed& before);
  void select(size_t line);
  uint64_t middle_of(size_t slice) const;
  size_t slice_at(uint64_t time) const;
  void draw_axis(Pane& pane, size_t row) const;
  size_t draw_levels(Pane& pane, size_t row, size_t height) const;
  void draw_thread(Pane& pane, size_t row, size_t line) const;
  void draw_strip(Pane& pane, size_t row, std::string_view strip, std::string_view path) const;
  void draw_cursor(Pane& pane, size_t row) const;
  uint64_t time_at(size_t slice) const;
  void set_range(Subject& subject, size_t from, size_t to) const;
  void zoom(bool in);
  void unmark() { mark_.reset(), mark_end_.reset(); }
  /// The marked slices, half open.
  std::optional<std::pair<size_t, size_t>> marked() const;
  void move(ptrdiff_t slices);
  std::string_view strip_of(size_t row, std::string_view column) const;

  size_t slices_ = 0;
  bool changed_ = false;  // what is asked of the view, by this screen itself
  std::vector<Range> zooms_;
  std::vector<size_t> levels_, threads_;  // rows of the table
  uint64_t begin_ = 0, end_ = 0;
  std::string thread_;  // ids_of() of the row that was selected when the view was made
  size_t cursor_ = 0, line_ = 0, top_ = 0, page_ = 1;
  size_t threads_at_ = 0;
  bool by_object_ = false;                 // letters say for what threads wait, not how
  std::optional<size_t> mark_, mark_end_;  // of a range of slices; without an end it goes to the cursor
};

}  // namespace varve::tui
