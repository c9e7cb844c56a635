// SPDX-License-Identifier: MIT
// See screen_driver.h.
// Context: tests.
#include "test/unit/screen_driver.h"

#include <fmt/format.h>

#include <clocale>
#include <sstream>
#include <stdexcept>

#include "test/unit/example_profile.h"
#include "viewer/narrow_options.h"
#include "viewer/render/escape.h"

namespace varve::test {
namespace {

tui::AppOptions options_for(const ScreenDriver::Start& start) {
  tui::AppOptions options;
  options.title = "app.varve";
  options.option_names = narrow_option_names();
  options.screen = start.screen;
  return options;
}

bool acts(char32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

ScreenDriver::ScreenDriver(Start start) : ScreenDriver(start, example_profile()) {}

ScreenDriver::ScreenDriver(Start start, RandomProfile made)
    : made_(std::make_unique<RandomProfile>(std::move(made))),
      workspace_(made_->profile, made_->symbols, {}, read_narrow_options),
      app_(workspace_, options_for(start)),
      size_(start.size),
      canvas_(start.size, start.look) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  workspace_.look = start.look;
  canvas_ = app_.draw(size_);
}

tui::Outcome ScreenDriver::handle(const tui::Input& input) {
  if (input.kind == tui::Input::Kind::kResize) size_ = input.size;
  const tui::Outcome outcome = app_.handle(input);
  canvas_ = app_.draw(size_);
  return outcome;
}

tui::Outcome ScreenDriver::press(std::string_view script) {
  const auto inputs = tui::parse_script(script);
  if (!inputs) throw std::runtime_error("the script " + inputs.error());
  tui::Outcome outcome = tui::Outcome::kGoOn;
  for (const tui::Input& input : *inputs) outcome = handle(input);
  return outcome;
}

std::string ScreenDriver::line(int row) const {
  const std::vector<std::string> lines = lines_of(text());
  const size_t at = row < 0 ? lines.size() - size_t(-row) : size_t(row);
  return at < lines.size() ? lines[at] : "";
}

std::vector<std::string> ScreenDriver::reversed() const {
  std::vector<std::string> found;
  for (size_t row = 0; row + 2 < canvas_.size().rows; ++row) {
    std::string words;
    for (size_t column = 0; column < canvas_.size().columns; ++column) {
      const tui::Cell& cell = canvas_.at(row, column);
      if (cell.style.reverse && cell.width > 0) render::append_utf8(words, cell.code);
    }
    while (words.ends_with(' ')) words.pop_back();
    if (!words.empty()) found.push_back(words);
  }
  return found;
}

std::string flaw_of(const tui::Canvas& canvas) {
  const auto [rows, columns] = canvas.size();
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      const tui::Cell& cell = canvas.at(row, column);
      const auto flaw = [&](const char* what) {
        return fmt::format("{} (U+{:04X}) in row {}, column {}", what, uint32_t(cell.code), row, column);
      };
      const bool covered = column > 0 && canvas.at(row, column - 1).width == 2;
      if ((cell.width == 0) != covered) return flaw("half of a wide character");
      if (cell.width == 2 && column + 1 == columns) return flaw("a wide character over the edge");
      if (acts(cell.code)) return flaw("a character that acts");
      if (!canvas.look().utf8 && cell.code > '~') return flaw("not ASCII");
      if (cell.width > 0 && render::character_width(cell.code) != cell.width) return flaw("a wrong width");
    }
  }
  return "";
}

}  // namespace varve::test
