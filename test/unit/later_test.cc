// SPDX-License-Identifier: MIT
// Values that are made in threads of their own: the thread is over when its value is taken, and left alone
// where nobody takes it. Context: tests.
#include <criterion/criterion.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

/// Whether a thread can be started.
bool has_threads() {
  try {
    std::thread([] {}).join();
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

constexpr int kTaken = 0, kNotTaken = 1, kHasThreads = 2;  // exit codes

/// What it throws would go to the test runner.
int take_without_threads() noexcept try {
  constexpr rlimit kNone{0, 0};
  constexpr uid_t kNobody = 65534;  // the limit does not hold for root
  if (setrlimit(RLIMIT_NPROC, &kNone) != 0 || (geteuid() == 0 && setresuid(kNobody, kNobody, kNobody) != 0))
    return kHasThreads;
  if (has_threads()) return kHasThreads;
  Later<int> later([](const auto&) { return 7; });
  return later.ready() && later.take() == 7 ? kTaken : kNotTaken;
} catch (...) {
  return kNotTaken;
}

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

Test(later, is_made_at_once_where_no_thread_can_be_started) {
  const pid_t child = fork();
  if (child == 0) _exit(take_without_threads());
  int status = 0;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert(WIFEXITED(status));
  if (WEXITSTATUS(status) == kHasThreads) cr_skip_test("threads cannot be forbidden here");
  cr_expect_eq(WEXITSTATUS(status), kTaken);
}
