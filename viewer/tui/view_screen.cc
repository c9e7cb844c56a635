// SPDX-License-Identifier: MIT
// See view_screen.h.
// Context: viewer.
#include "viewer/tui/view_screen.h"

#include <algorithm>
#include <iterator>

#include "viewer/tui/row_words.h"

namespace varve::tui {

void TableScreen::draw(Pane pane) {
  refresh();
  if (made_)
    widget_.draw(pane);
  else
    pane.put_name(0, 0, made_.error(), pane.columns());
}

Subject TableScreen::subject() const {
  const auto row = widget_.selected();
  return row ? subject_of(*widget_.table(), *row) : Subject{};
}

view::View TableScreen::printed() const {
  view::View view = *shown();
  if (first_table() == nullptr || shown() != &*made_) return view;
  view::Table& table = view.tables[size_t(first_table() - made_->tables.data())];
  table.rows.clear();
  table.cells.clear();
  for (const uint32_t row : widget_.rows()) {
    table.begin(first_table()->rows[row]);
    const auto cells = first_table()->row(row);
    table.cells.insert(table.cells.end(), cells.begin(), cells.end());
  }
  return view;
}

bool TableScreen::has_use(Action action) const {
  struct About {
    Action action;
    const char* column;
  };
  static constexpr About kAbout[] = {{Action::kOnlyThread, "tid"},
                                     {Action::kOnlyModule, "module"},
                                     {Action::kOnlyFunction, "function"},
                                     {Action::kAnnotate, "function"}};
  const auto about = std::ranges::find(kAbout, action, &About::action);
  return about == std::end(kAbout) || first_table() == nullptr ||
         has_column_id(*first_table(), about->column);
}

Detail TableScreen::detail() const {
  const auto row = widget_.selected();
  return row ? detail_of(*widget_.table(), *row, workspace_.counted_words()) : Detail{};
}

}  // namespace varve::tui
