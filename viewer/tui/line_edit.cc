// SPDX-License-Identifier: MIT
// See line_edit.h.
// Context: viewer.
#include "viewer/tui/line_edit.h"

#include <algorithm>

#include "viewer/render/escape.h"

namespace varve::tui {
namespace {

bool continues(char byte) { return (uint8_t(byte) & 0xc0) == 0x80; }

}  // namespace

size_t LineEdit::before(size_t at) const {
  while (at > 0 && continues(text_[--at])) continue;
  return at;
}

size_t LineEdit::after(size_t at) const {
  if (at < text_.size()) ++at;
  while (at < text_.size() && continues(text_[at])) ++at;
  return at;
}

bool LineEdit::blank(size_t at) const { return text_[at] == ' ' && (at == 0 || text_[at - 1] != '\\'); }

size_t LineEdit::word_begin() const {
  size_t at = cursor_;
  while (at > 0 && blank(at - 1)) --at;
  while (at > 0 && !blank(at - 1)) --at;
  return at;
}

/// Behind a blank a new word begins.
size_t LineEdit::completion_begin() const {
  return cursor_ > 0 && blank(cursor_ - 1) && !completing_ ? cursor_ : word_begin();
}

void LineEdit::erase(size_t from, size_t to) {
  text_.erase(from, to - from);
  cursor_ = from;
}

void LineEdit::insert(Key key) {
  std::string bytes;
  render::append_utf8(bytes, key);
  text_.insert(cursor_, bytes);
  cursor_ += bytes.size();
}

bool LineEdit::edit(Key key) {
  completing_ = false;
  switch (key) {
    case key::kLeft:
      cursor_ = before(cursor_);
      return true;
    case key::kRight:
      cursor_ = after(cursor_);
      return true;
    case key::kHome:
    case key::control('A'):
      cursor_ = 0;
      return true;
    case key::kEnd:
    case key::control('E'):
      cursor_ = text_.size();
      return true;
    case key::control('H'):
    case key::kBackspace:
      erase(before(cursor_), cursor_);
      return true;
    case key::kDelete:
      erase(cursor_, after(cursor_));
      return true;
    case key::control('U'):
      erase(0, cursor_);
      return true;
    case key::control('K'):
      erase(cursor_, text_.size());
      return true;
    case key::control('W'):
      erase(word_begin(), cursor_);
      return true;
    default:
      break;
  }
  if (key < ' ' || key > 0x10ffff) return false;
  insert(key);
  return true;
}

std::vector<std::string> LineEdit::beginning_with(const std::vector<std::string>& words,
                                                  std::string_view begin) {
  std::vector<std::string> result;
  std::ranges::copy_if(words, std::back_inserter(result),
                       [&](const std::string& word) { return word.starts_with(begin); });
  return result;
}

std::vector<std::string> LineEdit::complete(const std::vector<std::string>& words) {
  const size_t begin = completion_begin();
  if (!completing_) completed_ = text_.substr(begin, cursor_ - begin), completion_ = SIZE_MAX;
  std::vector<std::string> fitting = beginning_with(words, completed_);
  if (fitting.empty())
    std::ranges::copy_if(words, std::back_inserter(fitting),
                         [&](const std::string& word) { return word.find(completed_) != std::string::npos; });
  if (fitting.empty()) return fitting;
  completing_ = true;
  completion_ = (completion_ + 1) % fitting.size();
  erase(begin, cursor_);
  text_.insert(cursor_, fitting[completion_]);
  cursor_ += fitting[completion_].size();
  std::rotate(fitting.begin(), fitting.begin() + ptrdiff_t(completion_), fitting.end());
  return fitting;
}

void LineEdit::recall(const std::vector<std::string>& history, bool older) {
  if (older ? recalled_ == history.size() : recalled_ == 0) return;
  completing_ = false;
  if (recalled_ == 0) typed_ = text_;
  recalled_ += older ? 1 : size_t(-1);
  text_ = recalled_ == 0 ? typed_ : history[history.size() - recalled_];
  cursor_ = text_.size();
}

}  // namespace varve::tui
