// SPDX-License-Identifier: MIT
// ScreenDriver: the terminal viewer on a profile made up, driven by scripts of keys and read as text.
// Context: tests.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "test/unit/random_profile.h"
#include "viewer/tui/app.h"

namespace varve::test {

inline constexpr tui::Size kSmall{24, 80}, kLarge{40, 120};

class ScreenDriver {
 public:
  struct Start {
    tui::Size size = kSmall;
    tui::Look look{.color = false, .utf8 = true};
    std::string screen = "summary";
  };
  /// Without a profile of one's own: the example.
  explicit ScreenDriver(Start start);
  explicit ScreenDriver(Start start, RandomProfile made);
  ScreenDriver() : ScreenDriver(Start{}) {}

  /// Presses the keys of a script as varve view --script has it, drawing after each. What the last one wants.
  tui::Outcome press(std::string_view script);
  tui::Outcome handle(const tui::Input& input);

  const tui::Canvas& canvas() const { return canvas_; }
  std::string text(bool colored = false) const { return canvas_.text(colored); }
  /// A row without trailing blanks, from 0; negative ones count from the end: -1 is the last.
  std::string line(int row) const;
  std::string filter() const { return workspace_.crumbs(); }
  std::string settings() const { return workspace_.settings(); }
  std::string message() const { return line(-2); }
  bool shows(std::string_view words) const { return text().find(words) != std::string::npos; }
  /// The rows of the body whose cells are reverse: where the cursor is.
  std::vector<std::string> reversed() const;

  tui::App& app() { return app_; }
  tui::Workspace& workspace() { return workspace_; }
  const RandomProfile& made() const { return *made_; }

 private:
  std::unique_ptr<RandomProfile> made_;
  tui::Workspace workspace_;
  tui::App app_;
  tui::Size size_;
  tui::Canvas canvas_;
};

std::vector<std::string> lines_of(const std::string& text);

/// What no canvas may have: half of a wide character, or a character that acts on a terminal. Empty: nothing.
std::string flaw_of(const tui::Canvas& canvas);

}  // namespace varve::test
