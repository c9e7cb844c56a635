// SPDX-License-Identifier: MIT
// The one table of keys: what each does, its name for the command line, and the words for it. Help, the key
// bar and the man page are made from it. Context: viewer.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "viewer/tui/input.h"

namespace varve::tui {

enum class Action : uint8_t {
  kNone,
  kUp,
  kDown,
  kLeft,
  kRight,
  kPageUp,
  kPageDown,
  kHalfUp,
  kHalfDown,
  kFirst,
  kLast,
  kPreviousSibling,
  kNextSibling,
  kOpen,
  kMark,
  kUnfold,
  kFold,
  kUnfoldBelow,
  kUnfoldAll,
  kFoldAll,
  kHottest,
  kNextHot,
  kPreviousHot,
  kSearch,
  kNextMatch,
  kPreviousMatch,
  kKeep,
  kOnlyThread,
  kOnlyModule,
  kOnlyFunction,
  kUndo,
  kClear,
  kLeastShare,
  kNextSort,
  kSortLeft,
  kSortRight,
  kReverseOrder,
  kInvert,
  kUnits,
  kMetric,
  kColor,
  kAnnotate,
  kArrows,
  kNextView,
  kPreviousView,
  kView,  // a digit: the key says which
  kCommand,
  kPrint,
  kReload,
  kHelp,
  kEscape,
  kBack,
  kQuit,
  kMouse,
  kRedraw,
  kSuspend,
};

struct Binding {
  Action action;
  std::array<Key, 3> keys;  // unused ones are 0
  const char* command;      // its name on the command line
  const char* help;
  const char* group;  // heading in help
  const char* bar;    // its word in the key bar; null: not there
};

std::span<const Binding> bindings();

/// kNone: the key does nothing.
Action action_of(Key key);
/// By its name on the command line; null: there is none.
const Binding* find_binding(std::string_view command);

/// "j Down": all keys of a row.
std::string keys_text(const Binding& binding);

/// The table as an mdoc list, for the man page.
std::string man_keys();

}  // namespace varve::tui
