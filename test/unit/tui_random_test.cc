// SPDX-License-Identifier: MIT
// Random keys through every screen of every kind of profile: nothing crashes, no canvas is broken. VARVE_KEYS
// in the environment sets how many; the same is replayed under the sanitizers by test/fuzz/fuzz_screens.cc.
// Context: tests.
#include <criterion/criterion.h>

#include <cstdlib>

#include "test/unit/odd_profiles.h"
#include "test/unit/random_keys.h"

using namespace varve;
using namespace varve::test;

namespace {

size_t keys_wanted() {
  const char* words = std::getenv("VARVE_KEYS");
  return words == nullptr ? 400 : std::strtoul(words, nullptr, 10);
}

void press(const char* name, tui::Look look) {
  for (const OddProfile& odd : odd_profiles()) {
    if (std::string_view(odd.name) != name) continue;
    ScreenDriver driver({.look = look}, odd.make());
    const std::string flaw = press_random_keys(driver, 1 + look.color * 2 + look.utf8, keys_wanted());
    cr_assert(flaw.empty(), "%s: %s", name, flaw.c_str());
    return;
  }
  cr_assert_fail("no profile %s", name);
}

void press_all(const char* name) {
  press(name, {.color = true, .utf8 = true});
  press(name, {.color = false, .utf8 = false});
}

}  // namespace

Test(tui_random, ordinary) { press_all("ordinary"); }
Test(tui_random, random_switches) { press_all("random-switches"); }
Test(tui_random, random_sweeps) { press_all("random-sweeps"); }
Test(tui_random, empty) { press_all("empty"); }
Test(tui_random, one_sample) { press_all("one-sample"); }
Test(tui_random, long_names) { press_all("long-names"); }
Test(tui_random, deep_stacks) { press_all("deep-stacks"); }
Test(tui_random, recursion) { press_all("recursion"); }
Test(tui_random, damaged) { press_all("damaged"); }
Test(tui_random, forged_waits) { press_all("forged-waits"); }
Test(tui_random, none_is_left_out) { cr_expect_eq(odd_profiles().size(), 10u, "each has a test above"); }
