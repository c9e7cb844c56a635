// SPDX-License-Identifier: MIT
// The table of keys.
// Context: viewer.
#include "viewer/tui/keymap.h"

#include <fmt/format.h>

namespace varve::tui {
namespace {

constexpr char kMove[] = "Move", kTrees[] = "Trees", kNarrow[] = "Search and narrow", kShow[] = "Show",
               kOther[] = "Other";

constexpr Binding kTable[] = {
    {Action::kUp, {key::kUp, 'k'}, "up", "row above", kMove, nullptr},
    {Action::kDown, {key::kDown, 'j'}, "down", "row below", kMove, nullptr},
    {Action::kLeft, {key::kLeft, 'h'}, "left", "fold, or to the parent; scroll left", kMove, nullptr},
    {Action::kRight,
     {key::kRight, 'l'},
     "right",
     "unfold, or to the first child; scroll right",
     kMove,
     nullptr},
    {Action::kPageUp, {key::kPageUp, key::control('B')}, "page-up", "page up", kMove, nullptr},
    {Action::kPageDown, {key::kPageDown, key::control('F')}, "page-down", "page down", kMove, nullptr},
    {Action::kHalfUp, {key::control('U')}, "half-page-up", "half a page up", kMove, nullptr},
    {Action::kHalfDown, {key::control('D')}, "half-page-down", "half a page down", kMove, nullptr},
    {Action::kFirst, {key::kHome, 'g'}, "first", "first row", kMove, nullptr},
    {Action::kLast, {key::kEnd, 'G'}, "last", "last row", kMove, nullptr},
    {Action::kPreviousSibling, {'{'}, "previous-sibling", "previous row of the same parent", kMove, nullptr},
    {Action::kNextSibling, {'}'}, "next-sibling", "next row of the same parent", kMove, nullptr},
    {Action::kNextView, {key::kTab}, "next-view", "next view", kMove, nullptr},
    {Action::kPreviousView, {key::kBackTab}, "previous-view", "previous view", kMove, nullptr},
    {Action::kView, {'1', '2', '3'}, "view", "view by its digit, 1 to 9", kMove, nullptr},

    {Action::kOpen,
     {key::kEnter},
     "open",
     "fold; callers; waits for an object; functions of a thread or module; zoom; call",
     kTrees,
     nullptr},
    {Action::kUnfold, {'+', '='}, "unfold", "unfold one level; zoom in", kTrees, nullptr},
    {Action::kFold, {'-'}, "fold", "fold one level; zoom out", kTrees, nullptr},
    {Action::kUnfoldBelow, {'e'}, "unfold-below", "unfold all below the row", kTrees, nullptr},
    {Action::kUnfoldAll, {'E'}, "unfold-all", "unfold everything", kTrees, nullptr},
    {Action::kFoldAll, {'C'}, "fold-all", "fold everything", kTrees, nullptr},
    {Action::kHottest, {'H'}, "hottest", "hot path, also of a list's row; hottest line", kTrees, nullptr},
    {Action::kInvert, {'i'}, "invert", "top-down or bottom-up; icicle or flame", kTrees, nullptr},

    {Action::kSearch, {'/'}, "search", "search names by a regular expression", kNarrow, "Find"},
    {Action::kNextMatch, {'n'}, "next-match", "next match", kNarrow, nullptr},
    {Action::kPreviousMatch, {'N'}, "previous-match", "previous match", kNarrow, nullptr},
    {Action::kKeep, {'&', '\\'}, "keep", "keep only rows that match", kNarrow, "Keep"},
    {Action::kOnlyThread, {'t'}, "only-thread", "only this thread", kNarrow, "Thread"},
    {Action::kOnlyModule, {'d'}, "only-module", "only this module", kNarrow, "Module"},
    {Action::kOnlyFunction,
     {'f'},
     "only-function",
     "only stacks with this function; this range of time",
     kNarrow,
     "Focus"},
    {Action::kUndo, {'u', key::kBackspace}, "undo", "undo the last filter", kNarrow, "Undo"},
    {Action::kClear, {'U'}, "clear", "clear all filters; u brings them back", kNarrow, nullptr},
    {Action::kLeastShare, {'L'}, "least-share", "leave out rows below a share", kNarrow, nullptr},
    {Action::kMark,
     {' '},
     "mark",
     "page down; fold or unfold; begin or end a range of time",
     kNarrow,
     nullptr},

    {Action::kAnnotate, {'a'}, "annotate", "source and assembly of the row", kShow, "Code"},
    {Action::kNextHot, {'.'}, "next-hot", "next hot line", kShow, nullptr},
    {Action::kPreviousHot, {','}, "previous-hot", "previous hot line", kShow, nullptr},
    {Action::kArrows, {'J'}, "arrows", "mark where an instruction jumps to, and from where", kShow, nullptr},
    {Action::kNextSort, {'s'}, "sort", "next sort column; source, assembly; objects by time", kShow, "Sort"},
    {Action::kSortLeft, {'<'}, "sort-left", "sort by the column to the left", kShow, nullptr},
    {Action::kSortRight, {'>'}, "sort-right", "sort by the column to the right", kShow, nullptr},
    {Action::kReverseOrder, {'I'}, "reverse", "reverse the order", kShow, nullptr},
    {Action::kUnits, {'%'}, "units", "percent, seconds, samples, or all of them", kShow, "Units"},
    {Action::kMetric,
     {'m'},
     "metric",
     "count all CPU time; that of Poor, Ok, Ideal, Over; or waits",
     kShow,
     "Metric"},
    {Action::kColor, {'c'}, "color-by", "colour the flame by band, by module, or not", kShow, nullptr},
    {Action::kPrint,
     {'P'},
     "print",
     "write this view to a file, as text, or CSV by its name",
     kShow,
     nullptr},

    {Action::kCommand, {':'}, "command", "type a command or an option of report", kOther, nullptr},
    {Action::kHelp, {'?', key::kF1}, "help", "this help", kOther, "Help"},
    {Action::kEscape, {key::kEscape}, "escape", "close a prompt, undo the last filter", kOther, nullptr},
    {Action::kReload, {'r'}, "reload", "read the profile again", kOther, nullptr},
    {Action::kMouse, {'M'}, "mouse", "mouse on or off; Shift-drag selects text meanwhile", kOther, nullptr},
    {Action::kRedraw, {key::control('L')}, "redraw", "draw the screen anew", kOther, nullptr},
    {Action::kSuspend, {key::control('Z')}, "suspend", "to the shell; fg comes back", kOther, nullptr},
    {Action::kBack, {'q'}, "back", "to the view before; quits in the first", kOther, "Back"},
    {Action::kQuit, {'Q', key::control('C')}, "quit", "quit", kOther, nullptr},
};

}  // namespace

std::span<const Binding> bindings() { return kTable; }

Action action_of(Key key) {
  if (key >= '1' && key <= '9') return Action::kView;
  for (const Binding& binding : kTable)
    for (const Key each : binding.keys)
      if (each != 0 && each == key) return binding.action;
  return Action::kNone;
}

const Binding* find_binding(std::string_view command) {
  for (const Binding& binding : kTable)
    if (command == binding.command) return &binding;
  return nullptr;
}

std::string keys_text(const Binding& binding) {
  if (binding.action == Action::kView) return "1..9";
  std::string text;
  for (const Key each : binding.keys)
    if (each != 0) text += (text.empty() ? "" : " ") + key_name(each);
  return text;
}

std::string man_keys() {
  std::string out;
  const char* group = "";
  for (const Binding& binding : kTable) {
    if (std::string_view(group) != binding.group) {
      if (*group != '\0') out += ".El\n";
      group = binding.group;
      out += fmt::format(".Ss {}\n.Bl -tag -width 12n\n", group);
    }
    std::string keys;
    for (const char letter : keys_text(binding))
      keys += letter == '\\' ? std::string("\\e") : std::string(1, letter);
    out += fmt::format(".It Li \\&{} Pq Ic :{}\n{}.\n", keys, binding.command, binding.help);
  }
  return out + ".El\n";
}

}  // namespace varve::tui
