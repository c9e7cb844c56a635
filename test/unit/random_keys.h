// SPDX-License-Identifier: MIT
// Random keys, clicks and resizes, the same for the same seed, through a whole App. Context: tests.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "test/unit/screen_driver.h"

namespace varve::test {

class RandomKeys {
 public:
  explicit RandomKeys(uint64_t seed) : random_(seed) {}
  tui::Input next(tui::Size size);

 private:
  size_t below(size_t end) { return size_t(random_() % end); }
  tui::Input key();
  tui::Input mouse(tui::Size size);
  tui::Input resize();

  std::mt19937_64 random_;
  std::string typed_;  // a command that is being typed
};

/// Handles one input, but for the ones that would write a file, and draws. What is wrong with the canvas
/// then, or nothing.
std::string press_safely(ScreenDriver& driver, const tui::Input& input);

/// `count` inputs. What went wrong first, and after how many; empty: nothing.
std::string press_random_keys(ScreenDriver& driver, uint64_t seed, size_t count);

}  // namespace varve::test
