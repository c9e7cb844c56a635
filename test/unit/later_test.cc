// SPDX-License-Identifier: MIT
// Values that are made in threads of their own: the thread is over when its value is taken, and left alone
// where nobody takes it. Context: tests.
#include <criterion/criterion.h>

#include <memory>
#include <stdexcept>

#include "viewer/later.h"

using namespace varve;

namespace {

/// Destroyed by the thread that made the value, some time after that is there.
struct Slow {
  explicit Slow(bool& gone) : gone_(&gone) {}
  ~Slow() {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    *gone_ = true;
  }
  bool* gone_;
};

}  // namespace

Test(later, its_thread_is_over_when_the_value_is_taken) {
  bool gone = false;
  Later<int> later([&gone](const auto& tell) {
    thread_local const Slow slow(gone);
    tell("half of it");
    return 7;
  });
  cr_expect_eq(later.take(), 7);
  cr_expect(gone, "nothing of the thread is left to run");
  cr_expect(later.words() == "half of it");
}

Test(later, what_making_threw_is_thrown) {
  Later<int> later([](const auto&) -> int { throw std::runtime_error("no"); });
  cr_expect_throw(later.take(), std::runtime_error);
}

Test(later, nobody_needs_to_take_it) {
  const auto shared = std::make_shared<int>(1);
  {
    Later<int> later([shared](const auto&) { return *shared; });
  }
  Later<int> moved = Later<int>([shared](const auto&) { return *shared + 1; });
  cr_expect_eq(moved.take(), 2);
}
