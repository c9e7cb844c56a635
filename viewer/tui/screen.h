// SPDX-License-Identifier: MIT
// Screen: one view on the terminal. It draws itself on a pane and acts on what is its own; prompts, filters
// and other screens are the App's. To add one: a file pair and a row in screens.cc. Context: viewer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "viewer/analyze/filter.h"
#include "viewer/tui/canvas.h"
#include "viewer/tui/keymap.h"
#include "viewer/tui/units.h"
#include "viewer/view/view.h"

namespace varve::tui {

class Workspace;

/// What the selected row is about, as far as it is about such things; for filters and other screens.
struct Subject {
  std::string function = {}, module = {};  // full name; module's name
  std::string thread = {};                 // tid
  std::string object = {};                 // its object_id, as --object takes it
  std::string object_words = {};           // the same for people
  std::string range = {};                  // of time, as --time takes it
  std::string range_words = {};            // the same for people
  std::string place = {};  // of a function whose name is another one's, too; see function_place.h
  bool waits = false;      // its time is a wait
};

/// The selected row in one line. Where that is too long the name goes before the rest.
struct Detail {
  std::string name, more;
};

class Screen {
 public:
  virtual ~Screen() = default;

  /// Draws all of itself; called after every input.
  virtual void draw(Pane pane) = 0;
  /// False: the action is none of this screen's.
  virtual bool act(Action action) = 0;
  /// A click on the pane last drawn. True: on a row that was selected already, so it means to open it.
  virtual bool click(Point) { return false; }
  virtual Subject subject() const { return {}; }
  /// For the line below the screen.
  virtual Detail detail() const { return {}; }
  /// Moves to the nearest row with a match; `again`: not the one it is on. False: there is none.
  virtual bool search(const analyze::Pattern&, Direction, bool /*again*/) { return false; }
  /// What undoes the moves of searches from now on.
  virtual std::function<void()> way_back() {
    return [] {};
  }
  /// Shows only rows with a match; one that is not given shows all again. False: this screen cannot.
  virtual bool keep(const analyze::Pattern&) { return false; }
  /// The view that it shows; null: nothing yet.
  virtual const view::View* shown() const { return nullptr; }
  /// The view whose sums stand in the line above the screen.
  virtual const view::View* summed() const { return shown(); }
  /// Whether printed() has only the rows that keep() leaves.
  virtual bool prints_kept() const { return true; }
  /// What `P` writes: the view, with the rows that are there to be seen, in their order. Points into shown().
  virtual view::View printed() const { return *shown(); }
  /// About another function, where the screen is about one. False: it is not, or there is no such function.
  virtual bool show(const Subject&) { return false; }
  /// Unfolds the heaviest way to a function and below it, where the screen is a tree. False: it has no row
  /// there.
  virtual bool show_hot_path(const Subject&) { return false; }
  /// Words for the key bar that only this screen has: "Enter callers".
  virtual std::string_view keys() const { return {}; }
  /// Whether the key bar should name the key of this action: it does something here, and keys() has it not.
  virtual bool has_use(Action) const { return true; }
  /// The line of columns, for `Where is the pointer`; screens with a table return true after sorting.
  virtual bool sort_at(Point) { return false; }
};

/// One row of the table of screens.
struct ScreenKind {
  const char* name;   // on the command line, as in `varve report`
  const char* title;  // of its tab
  const char* brief;  // the same in few columns
  std::unique_ptr<Screen> (*make)(Workspace&);
  const char* sentence;  // for help
  bool tab = true;       // else only by command
};

/// In the order of their tabs: the first nine have the digits.
std::span<const ScreenKind> screens();
const ScreenKind* find_screen(std::string_view name);

}  // namespace varve::tui
