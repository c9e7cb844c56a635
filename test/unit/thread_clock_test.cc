// SPDX-License-Identifier: MIT
// The thread's clock that the processor's counter carries on: as near as it says, and nearer the clock where
// the counter goes wrong.
#include "agent/signal/thread_clock.h"

#include <criterion/criterion.h>

#include <functional>

#include "test/unit/time_units.h"

using varve::kMs;
using varve::kSecond;
using varve::kUs;
using varve::agent::ThreadClock;
using varve::agent::TickLength;

namespace {

/// A machine whose counter goes at some GHz; looks at its clock are counted.
struct CountedMachine {
  static inline uint64_t now, counted, looks;
  static inline double ghz;
  static inline std::function<void()> at_look;

  static void begin(double counter_ghz) {
    now = 1000 * kSecond, counted = 7 * kSecond, looks = 0, ghz = counter_ghz, at_look = nullptr;
  }
  static void pass(uint64_t time_ns) {
    now += time_ns;
    counted += uint64_t(double(time_ns) * ghz);
  }
  static uint64_t ticks() { return counted; }
  static uint64_t ns() {
    ++looks;
    if (const auto then = at_look) at_look = nullptr, then();
    return now;
  }
};

/// Asks every `step_ns` for so long; the worst error.
uint64_t worst_error(ThreadClock<CountedMachine>& clock, TickLength& length, uint64_t time_ns,
                     uint64_t step_ns) {
  uint64_t worst = 0;
  for (const uint64_t end = CountedMachine::now + time_ns; CountedMachine::now < end;
       CountedMachine::pass(step_ns)) {
    const uint64_t said = clock.now_ns(length);
    const uint64_t error =
        said > CountedMachine::now ? said - CountedMachine::now : CountedMachine::now - said;
    worst = error > worst ? error : worst;
  }
  return worst;
}

}  // namespace

Test(thread_clock, is_the_clock_until_the_counter_is_known) {
  CountedMachine::begin(2.8);
  ThreadClock<CountedMachine> clock;
  TickLength length;
  cr_assert_eq(worst_error(clock, length, 20 * kMs, kMs / 2), 0);
  cr_assert_eq(CountedMachine::looks, 40);
}

Test(thread_clock, is_carried_on_by_counters_of_any_speed) {
  for (const double ghz : {0.1, 1.0, 2.8, 5.7}) {
    CountedMachine::begin(ghz);
    ThreadClock<CountedMachine> clock;
    TickLength length;
    worst_error(clock, length, 30 * kMs, 10 * kUs);
    const uint64_t looks = CountedMachine::looks;
    cr_assert_leq(worst_error(clock, length, 100 * kMs, 3 * kUs), 20, "%g GHz", ghz);
    cr_assert_leq(CountedMachine::looks - looks, 101, "%g GHz: %lu looks", ghz,
                  CountedMachine::looks - looks);
  }
}

Test(thread_clock, gives_long_times_by_the_clock) {
  CountedMachine::begin(3);
  ThreadClock<CountedMachine> clock;
  TickLength length;
  cr_assert_leq(worst_error(clock, length, 100 * kMs, 10 * kUs), 20);
  for (const uint64_t pause : {2 * kMs, 70 * kMs, 3 * kSecond, 3000 * kSecond}) {
    CountedMachine::pass(pause);
    cr_assert_eq(clock.now_ns(length), CountedMachine::now);
  }
  cr_assert(!length.is_refused());
}

Test(thread_clock, learns_anew_where_it_is_seldom_asked) {
  CountedMachine::begin(3);
  ThreadClock<CountedMachine> clock;
  TickLength length;
  cr_assert_eq(worst_error(clock, length, 30 * kSecond, 5 * kSecond), 0);
  cr_assert_eq(length.value(), 0);
  cr_assert_leq(worst_error(clock, length, 100 * kMs, 10 * kUs), 20);
  cr_assert_neq(length.value(), 0);
}

Test(thread_clock, asks_a_counter_that_went_wrong_no_more) {
  const std::function<void()> faults[] = {
      [] { CountedMachine::ghz = 1.5; },             // another frequency
      [] { CountedMachine::counted += 100 * kUs; },  // processors out of step
      [] { CountedMachine::counted -= 2 * kMs; },    // likewise
      [] { CountedMachine::counted = 1; },           // the machine slept
      [] { CountedMachine::now += 500 * kUs; },      // or only its counter was stopped
  };
  for (const auto& fault : faults) {
    CountedMachine::begin(3);
    ThreadClock<CountedMachine> clock;
    TickLength length;
    worst_error(clock, length, 100 * kMs, 10 * kUs);
    fault();
    // A millisecond at most is reckoned by the bad counter.
    cr_assert_leq(worst_error(clock, length, 2 * kMs, 10 * kUs), kMs);
    cr_assert(length.is_refused());
    cr_assert_eq(worst_error(clock, length, 100 * kMs, 10 * kUs), 0);
  }
}

Test(thread_clock, is_right_in_a_handler_within_a_look) {
  CountedMachine::begin(3);
  ThreadClock<CountedMachine> clock;
  TickLength length;
  worst_error(clock, length, 100 * kMs, 10 * kUs);
  CountedMachine::pass(2 * kMs);
  CountedMachine::at_look = [&] {
    CountedMachine::pass(100 * kUs);
    cr_assert_eq(clock.now_ns(length), CountedMachine::now);
    CountedMachine::pass(100 * kUs);
  };
  cr_assert_eq(clock.now_ns(length), CountedMachine::now);
  cr_assert_leq(worst_error(clock, length, 10 * kMs, 10 * kUs), 20);
}

Test(thread_clock, does_not_count_from_a_look_that_took_long) {
  CountedMachine::begin(3);
  ThreadClock<CountedMachine> clock;
  TickLength length;
  for (int i = 0; i < 1000; ++i) {
    CountedMachine::at_look = [] { CountedMachine::pass(50 * kUs); };
    clock.now_ns(length);
  }
  cr_assert_eq(length.value(), 0);
  CountedMachine::at_look = nullptr;
  cr_assert_leq(worst_error(clock, length, 100 * kMs, 10 * kUs), 20);
}

Test(thread_clock, is_near_the_real_one) {
  ThreadClock<> clock;
  TickLength length;
  uint64_t before = 0;
  for (const uint64_t end = varve::agent::monotonic_ns() + 100 * kMs; before < end;) {
    const uint64_t from = varve::agent::monotonic_ns();
    const uint64_t said = clock.now_ns(length);
    const uint64_t to = varve::agent::monotonic_ns();
    cr_assert(said + 1500 >= from && said <= to + 1500, "%lu is not from %lu to %lu", said, from, to);
    before = to;
  }
}
