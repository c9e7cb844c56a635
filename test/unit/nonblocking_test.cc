// SPDX-License-Identifier: MIT
// What the agent knows of sockets on which no call waits, and for how long. Context: tests.
#include "agent/nonblocking.h"

#include <criterion/criterion.h>

#include "test/unit/time_units.h"

using namespace varve;
using varve::agent::Nonblocking;

namespace {

constexpr uint64_t kThen = 1000 * kSecond, kHeld = 100 * kMs;
constexpr int kSocket = 7;

Nonblocking& of_a_socket(bool never_waits) {
  static Nonblocking known;
  known.learn(kSocket, never_waits, kThen);
  return known;
}

}  // namespace

Test(nonblocking, an_answer_holds_for_a_tenth_of_a_second) {
  Nonblocking& known = of_a_socket(true);
  cr_expect(known.may_hold(kSocket) && known.holds(kSocket, kThen + kHeld - 1));
  cr_expect_not(known.is_unknown(kSocket, kThen + kHeld - 1));
  cr_expect_not(known.holds(kSocket, kThen + kHeld + 2));
  cr_expect(known.is_unknown(kSocket, kThen + kHeld + 2));
  cr_expect_not(known.holds(kSocket + 1, kThen));
}

Test(nonblocking, one_that_may_wait_is_asked_as_seldom) {
  Nonblocking& known = of_a_socket(false);
  cr_expect_not(known.may_hold(kSocket));
  cr_expect_not(known.is_unknown(kSocket, kThen + kHeld - 4));
  known.learn_not_noted(kSocket, known.last_answer(kSocket));
  cr_expect(known.may_be_noted(kSocket), "which is known only beside the other answer");
}

Test(nonblocking, what_is_not_noted_is_known_until_the_next_answer_or_a_change) {
  Nonblocking& known = of_a_socket(true);
  cr_expect(known.may_be_noted(kSocket));
  known.learn_not_noted(kSocket, known.last_answer(kSocket));
  cr_expect_not(known.may_be_noted(kSocket));
  cr_expect(known.holds(kSocket, kThen + kHeld - 4));
  known.learn(kSocket, true, kThen + kSecond);
  cr_expect(known.may_be_noted(kSocket));
  known.learn_not_noted(kSocket, known.last_answer(kSocket));
  cr_expect_eq(known.changed(kSocket, [] { return 5; }), 5);
  cr_expect(known.may_be_noted(kSocket));
  cr_expect_not(known.may_hold(kSocket));
}

Test(nonblocking, what_was_found_of_another_with_the_same_number_is_not_kept) {
  Nonblocking& known = of_a_socket(true);
  const uint64_t before = known.last_answer(kSocket);
  known.changed(kSocket, [] { return 0; });
  known.learn(kSocket, true, kThen + kMs);
  known.learn_not_noted(kSocket, before);
  cr_expect(known.may_be_noted(kSocket));
}
