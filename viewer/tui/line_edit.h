// SPDX-License-Identifier: MIT
// LineEdit: the line that a prompt edits, with a history and completion by Tab. Context: viewer.
#pragma once

#include <string>
#include <vector>

#include "viewer/tui/input.h"

namespace varve::tui {

class LineEdit {
 public:
  explicit LineEdit(std::string text = "") : text_(std::move(text)), cursor_(text_.size()) {}

  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }  // in bytes, at the begin of a character

  /// Characters, Backspace, Del, arrows, Home, End, ^U, ^W, ^A, ^E, ^K. False: the key is none of these.
  bool edit(Key key);
  /// Replaces the last word by the next of those that begin as it did when Tab was pressed first, or else
  /// have it somewhere. A blank behind a backslash is part of a word. Returns those words, that one first.
  std::vector<std::string> complete(const std::vector<std::string>& words);
  /// What stands before the word that would be completed.
  std::string before_word() const { return text_.substr(0, completion_begin()); }
  /// Those words that begin so.
  static std::vector<std::string> beginning_with(const std::vector<std::string>& words,
                                                 std::string_view begin);
  /// Up and down in earlier lines.
  void recall(const std::vector<std::string>& history, bool older);

 private:
  size_t word_begin() const;
  size_t completion_begin() const;
  bool blank(size_t at) const;
  void insert(Key key);
  void erase(size_t from, size_t to);
  size_t before(size_t at) const;
  size_t after(size_t at) const;

  std::string text_;
  size_t cursor_;
  std::string completed_;  // what Tab was pressed on
  size_t completion_ = 0;  // which of its words stands there
  bool completing_ = false;
  size_t recalled_ = 0;  // lines back
  std::string typed_;    // before the first of them
};

}  // namespace varve::tui
