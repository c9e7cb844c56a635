// SPDX-License-Identifier: MIT
// Terminal: shows canvases and reads keys, by ncursesw, which nothing else includes. Whatever ends the
// process, the terminal is as it was before. Context: viewer.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "viewer/tui/canvas.h"
#include "viewer/tui/input.h"

namespace varve::tui {

class Terminal {
 public:
  /// Takes over the terminal of stdin and stdout. The error is a sentence: its type is unknown, say.
  static tl::expected<std::unique_ptr<Terminal>, std::string> open(bool color);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  Size size() const;
  bool has_colors() const { return colors_ > 0; }
  /// Sends what differs from what is on the screen.
  void show(const Canvas& canvas);
  /// Sends everything again.
  void redraw();
  /// Waits for the next key, click or change of size; kNothing after half a second without any, or a tenth
  /// where the caller is `busy` waiting for something else too; kQuit after SIGINT, SIGTERM or SIGHUP.
  Input read(bool busy = false);
  void set_mouse(bool on);
  /// To the shell, and back when it says so.
  void suspend();

  /// Puts the terminal right from a handler of a fatal signal; does nothing where none was taken over.
  static void restore_after_crash();

 private:
  explicit Terminal(void* screen) : screen_(screen) {}
  void start(bool color);
  short pair_of(const Style& style);
  unsigned attributes_of(const Style& style);

  void* screen_;  // SCREEN*
  int colors_ = 0;
  bool mouse_ = false;
};

}  // namespace varve::tui
