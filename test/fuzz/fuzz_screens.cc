// SPDX-License-Identifier: MIT
// Fuzzer of the screens: keys, clicks and sizes made from the input, on each kind of profile that is hard to
// draw, through the whole App; the first two bytes choose the profile and the look. VARVE_KEYS in the
// environment: so many random ones behind those of the input, for the replay in `make check` and
// `make stress`; VARVE_SEED: others of them. Context: tests.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "test/fuzz/replay_main.h"
#include "test/unit/odd_profiles.h"
#include "test/unit/random_keys.h"

namespace {

using namespace varve;
using tui::Input;

constexpr size_t kMostKeys = 2'000;  // of an input

size_t from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::strtoul(text, nullptr, 10) : 0;
}

void require_whole(const std::string& flaw) {
  if (flaw.empty()) return;
  std::fprintf(stderr, "fuzz_screens: %s\n", flaw.c_str());
  std::abort();
}

/// A key, or with the two bytes behind it a click or a size.
Input input_of(uint8_t byte, uint8_t first, uint8_t second) {
  constexpr Input::Kind kMouse[] = {Input::Kind::kClick, Input::Kind::kDoubleClick, Input::Kind::kWheelUp,
                                    Input::Kind::kWheelDown};
  if (byte < 0x80) return {Input::Kind::kKey, byte, {}, {}};
  if (byte < 0xc0) return {Input::Kind::kKey, tui::key::kUp + byte % 12, {}, {}};
  if (byte < 0xf0) return {kMouse[byte % 4], 0, {first, second}, {}};
  return {Input::Kind::kResize, 0, {}, {1u + first % 101, 1u + second}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const auto profiles = test::odd_profiles();
  const tui::Look look{.color = (data[1] & 1) != 0, .utf8 = (data[1] & 2) != 0};
  test::ScreenDriver driver({.look = look}, profiles[data[0] % profiles.size()].make());
  for (size_t i = 2; i + 2 < std::min(size, kMostKeys); ++i)
    require_whole(test::press_safely(driver, input_of(data[i], data[i + 1], data[i + 2])));
  const uint64_t seed = size + data[0] * 256u + data[1] + from_environment("VARVE_SEED");
  require_whole(test::press_random_keys(driver, seed, from_environment("VARVE_KEYS")));
  return 0;
}
