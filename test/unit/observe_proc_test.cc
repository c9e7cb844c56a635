// SPDX-License-Identifier: MIT
// Unit tests of viewer/record/observe: what stands in /proc, which call a thread waits in, which threads
// there are, and what looking costs. Context: tests.
#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "test/unit/sleeper.h"
#include "viewer/record/observe/cpu_budget.h"
#include "viewer/record/observe/proc_text.h"
#include "viewer/record/observe/task_table.h"
#include "viewer/record/observe/wait_kind.h"
#include "viewer/record/observe/wait_look.h"

using namespace varve;
using namespace varve::record::observe;
using varve::test::nobody;
using varve::test::Sleeper;

Test(observe, sums_of_a_thread_are_three_numbers) {
  auto sums = parse_schedstat("38789519 171964214 116\n");
  cr_assert(sums.has_value());
  cr_expect_eq(sums->ran.count, 38789519);
  cr_expect_eq(sums->ready.count, 171964214);
  cr_expect_eq(sums->switched_in, 116);
  for (const char* bad : {"", "1", "1 2", "1 2 x", "-1 2 3", "99999999999999999999999 1 1"})
    cr_expect(!parse_schedstat(bad), "%s", bad);
}

Test(observe, a_name_may_hold_anything) {
  std::string tail =
      " 18902 18905 18902 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 226 1 2 18446744073709551615 0 0 0 0 0 0 0 0 "
      "0 0 0 0 ";
  std::string text = "18905 (a) S 7 (b)) R" + tail + "17 5 0 0 0\n";
  auto stat = parse_stat(text);
  cr_assert(stat.has_value());
  cr_expect(stat->name == "a) S 7 (b)");
  cr_expect_eq(stat->state, 'R');
  cr_expect_eq(stat->parent, 18902);
  cr_expect_eq(stat->processor, 5);
  cr_expect(!stat->is_thread);
  cr_expect(parse_stat("1 (x) S" + tail + "-1 5 0\n")->is_thread);
  for (const char* bad : {"", "1 x S 2", "1 (x) S 2 3", ")(", "1 (x"}) cr_expect(!parse_stat(bad), "%s", bad);
}

Test(observe, a_call_is_its_number_and_arguments) {
  auto look = parse_syscall("202 0x7f00 0x189 0x2 0x0 0x0 0xffffffff 0x7ffd 0x7f2097587aec\n");
  cr_assert(look.has_value());
  cr_expect_eq(look->number, 202);
  cr_expect_eq(look->arguments[1], 0x189);
  cr_expect_eq(look->arguments[5], 0xffffffff);
  cr_expect_eq(look->program_counter, 0x7f2097587aec);
  look = parse_syscall("-1 0x7ffd 0x7f20\n");
  cr_assert(look.has_value());
  cr_expect_eq(look->number, -1);
  for (const char* bad : {"running\n", "", "0\n", "0 0x1 0x2 0x3\n", "0 0x1 0x2 0x3 0x4 0x5 0x6 0x7 zz\n"})
    cr_expect(!parse_syscall(bad), "%s", bad);
}

Test(observe, the_ends_of_status_and_loadavg) {
  auto counts =
      parse_switch_counts("Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t34\n");
  cr_assert(counts.has_value());
  cr_expect_eq(counts->voluntary, 12);
  cr_expect_eq(counts->involuntary, 34);
  cr_expect(!parse_switch_counts("Name:\tx\nvoluntary_ctxt_switches:\t12\n"));
  cr_expect_eq(parse_last_pid("71.39 27.43 12.63 8/117 17573\n").value_or(0), 17573);
  cr_expect(!parse_last_pid("71.39 27.43 12.63 8/117\n"));
}

// --- kinds of waits

Test(observe, a_wait_is_judged_by_its_call) {
  constexpr uint64_t kPrivate = FUTEX_PRIVATE_FLAG, kClock = FUTEX_CLOCK_REALTIME;
  struct {
    long number;
    uint64_t first, second, third;
    WaitKind kind;
  } const calls[] = {
      {SYS_futex, 0x1000, FUTEX_WAIT | kPrivate, 2, WaitKind::kLock},
      {SYS_futex, 0x1000, FUTEX_LOCK_PI | kPrivate, 0, WaitKind::kLock},
      {SYS_futex, 0x1000, FUTEX_WAIT | kPrivate, 0, WaitKind::kCondition},
      {SYS_futex, 0x1000, FUTEX_WAIT_BITSET | kPrivate | kClock, 2, WaitKind::kCondition},
      {SYS_futex, 0x1000, FUTEX_WAIT_BITSET | kClock, 4242, WaitKind::kJoin},
      {SYS_futex, 0x1000, FUTEX_WAIT, 4242, WaitKind::kJoin},
      {SYS_futex, 0x1000, FUTEX_WAIT_BITSET | kClock, 4243, WaitKind::kCondition},  // no thread of it
      {SYS_futex, 0x1000, FUTEX_WAIT_BITSET | kPrivate, 4242, WaitKind::kCondition},
      {SYS_futex_waitv, 0, 0, 0, WaitKind::kCondition},
      {SYS_wait4, 0, 0, 0, WaitKind::kJoin},
      {SYS_clock_nanosleep, 0, 0, 0, WaitKind::kSleep},
      {SYS_pause, 0, 0, 0, WaitKind::kSleep},
      {SYS_poll, 0x1000, 1, 100, WaitKind::kIo},
      {SYS_poll, 0, 0, 100, WaitKind::kSleep},
      {SYS_select, 4, 0, 0, WaitKind::kIo},
      {SYS_select, 0, 0, 0, WaitKind::kSleep},
      {SYS_read, 0, 0, 0, WaitKind::kIo},
      {SYS_epoll_wait, 0, 0, 0, WaitKind::kIo},
      {SYS_fsync, 0, 0, 0, WaitKind::kIo},
      {SYS_getpid, 0, 0, 0, WaitKind::kOther},
      {-1, 0, 0, 0, WaitKind::kOther},
      {100'000, 0, 0, 0, WaitKind::kOther},
  };
  for (const auto& call : calls) {
    SyscallLook look{call.number, {call.first, call.second, call.third}, 0x1000};
    WaitKind kind = kind_of_wait(look, [](pid_t tid) { return tid == 4242; });
    cr_expect_eq(int(kind), int(call.kind), "call %ld (%llx, %llx, %llu) is %d", call.number,
                 static_cast<unsigned long long>(call.first), static_cast<unsigned long long>(call.second),
                 static_cast<unsigned long long>(call.third), int(kind));
  }
}

Test(observe, the_code_says_what_a_restarted_call_was) {
  using namespace std::string_view_literals;
  cr_expect_eq(syscall_number_in("\x90\x90\xb8\xca\x00\x00\x00\x0f\x05"sv), 202);
  cr_expect_eq(syscall_number_in("\xb8\xe6\x00\x00\x00\x89\xd7\x4c\x89\xc2\x0f\x05"sv), 230);
  cr_expect_eq(syscall_number_in("\xb8\x07\x00\x00\x00\x90\xb8\xff\xff\xff\xff\x0f\x05"sv), 7);
  for (std::string_view none : {""sv, "\x0f\x05"sv, "\xb8\x07\x00\x00\x00"sv, "\xb8\x07\x00\x00\x0f\x05"sv,
                                "\x90\x90\x90\x90\x90\x90\x90\x0f\x05"sv})
    cr_expect_eq(syscall_number_in(none), -1);
}

/// SIGSTOP and SIGCONT make the kernel restart a sleep, by another number.
Test(observe, a_restarted_sleep_is_still_a_sleep) {
  Sleeper sleeper;
  kill(sleeper.pid, SIGSTOP);
  waitpid(sleeper.pid, nullptr, WUNTRACED);
  kill(sleeper.pid, SIGCONT);
  for (int i = 0; i < 1000; ++i) {
    if (look_at_wait(sleeper.pid, sleeper.pid, nobody).kind == WaitKind::kSleep) return;
    usleep(1000);
  }
  cr_assert_fail("not a sleep within a second");
}

Test(observe, a_zombie_and_one_that_is_gone) {
  Sleeper sleeper;
  kill(sleeper.pid, SIGKILL);
  siginfo_t info;
  waitid(P_PID, id_t(sleeper.pid), &info, WEXITED | WNOWAIT);
  // It is a zombie before it has left its processor, until when it counts as running, and before its stack is
  // taken away, until when it is in its last call.
  WaitLook look{WaitLook::Result::kNotBlocked, {}};
  for (int i = 0; i < 10000 && look.result != WaitLook::Result::kZombie; ++i, sched_yield())
    look = look_at_wait(sleeper.pid, sleeper.pid, nobody);
  cr_expect_eq(int(look.result), int(WaitLook::Result::kZombie));
  waitpid(sleeper.pid, nullptr, 0);
  cr_expect_eq(int(look_at_wait(sleeper.pid, sleeper.pid, nobody).result), int(WaitLook::Result::kGone));
  sleeper.pid = -1;
}

// --- tasks and budget

size_t open_descriptors() {
  auto list = std::filesystem::directory_iterator("/proc/self/fd");
  return size_t(std::distance(begin(list), end(list)));
}

Test(observe, processes_are_found_and_forgotten_without_a_trace) {
  size_t before = open_descriptors();
  {
    Sleeper first;
    TaskTable table({first.pid, true});
    cr_assert_eq(table.find_new({1}).size(), 1);
    for (int round = 0; round < 20; ++round) {
      Sleeper second;
      std::vector<Task*> found;
      for (int looks = 0; looks < 5 && found.empty(); ++looks) found = table.find_new({2});
      cr_assert_eq(found.size(), 1);
      cr_expect_eq(found[0]->pid, second.pid);
      cr_expect_eq(found[0]->parent, getpid());
      second.end();
      found[0]->gone = true;
      table.remove_gone();
      cr_expect_eq(table.processes().size(), 1);
    }
    cr_expect_leq(open_descriptors(), before + 5);
  }
  cr_expect_eq(open_descriptors(), before);
}

Test(observe, what_was_spent_is_paid_back_in_time) {
  CpuBudget budget({0});
  cr_expect_eq(budget.next({0}, {10}).count, 10);
  constexpr Nanos kTooMuch{1'000'000};
  budget.charge({0}, CpuBudget::kCredit - Nanos{(CpuBudget::kUsualOf - 1) * kTooMuch.count});
  for (unsigned i = 0; i < CpuBudget::kUsualOf; ++i) budget.charge({0}, kTooMuch);
  cr_expect_eq(budget.next({0}, {10}).count, kTooMuch.count * CpuBudget::kOneIn);
  // Half of what comes in, until then.
  cr_expect_eq(budget.room({10'000'000}, {0}).count, 10'000'000 / CpuBudget::kOneIn / 2);
  budget.charge({0}, CpuBudget::kCarried);
  cr_expect_eq(budget.room({10'000'000}, {0}).count, 0);
  const Nanos all = CpuBudget::kCredit + kTooMuch + CpuBudget::kCarried;
  budget.charge({all.count * CpuBudget::kOneIn}, {0});
  cr_expect_eq(budget.room({10'000'000}, {0}).count, 10'000'000 / CpuBudget::kOneIn);
  cr_expect_eq(budget.room({10'000'000}, {50'000}).count, 10'000'000 / CpuBudget::kOneIn - 50'000);
}

/// Of a virtual machine that lost its processor during some looks: what is known has no hole, and is paid for
/// all the same.
Test(observe, long_looks_are_paid_back_over_many) {
  struct Lost {
    uint64_t ns;
    int times;
    uint64_t longest_ns;
    int every = 3;
  };
  constexpr Nanos kUsual{100'000};
  for (const Lost lost : {Lost{30'000'000, 1, CpuBudget::kLongestPause.count},
                          Lost{7'000'000, 5, CpuBudget::kLongestPause.count},
                          Lost{14'000'000, 2, CpuBudget::kLongestPause.count, 1},
                          Lost{7'000'000, 3, CpuBudget::kLongestPause.count, 1},
                          Lost{4'000'000, 20, 5'000'000 * CpuBudget::kOneIn, 1},
                          Lost{40'000'000, 1, 6'000'000 * CpuBudget::kOneIn}}) {
    CpuBudget budget({0});
    Nanos now, total;
    uint64_t longest = 0;
    for (int look = 0; look < 2000; ++look) {
      const bool is_long = look >= 20 && look < 20 + lost.every * lost.times && look % lost.every == 0;
      const Nanos used{is_long ? lost.ns : kUsual.count}, next = budget.next(now, {10'000'000});
      longest = std::max(longest, (next - now).count);
      budget.charge(now = next, used);
      total += used;
    }
    cr_expect_geq(longest, CpuBudget::kLongestPause.count);
    cr_expect_leq(longest, lost.longest_ns, "%lu ns after %lu", ulong(longest), ulong(lost.ns));
    cr_expect_leq(total.count, (Nanos{now.count / CpuBudget::kOneIn} + CpuBudget::kCredit + kUsual).count);
  }
}

/// Whatever looks cost, all the same or in turn, the share is the promised one at any time.
Test(observe, the_share_holds_for_any_cost) {
  for (const uint64_t cost : {10'000, 100'000, 1'000'000, 50'000'000})
    for (const uint64_t other : {10'000, 1'000'000, 20'000'000}) {
      CpuBudget budget({0});
      Nanos now, total;
      for (int look = 0; look < 1000; ++look) {
        const Nanos used{look % 2 ? cost : other};
        now = budget.next(now, {10'000'000});
        budget.charge(now, used);
        total += used;
        const Nanos most =
            Nanos{now.count / CpuBudget::kOneIn} + CpuBudget::kCredit + CpuBudget::kCarried + used;
        cr_assert_leq(total.count, most.count, "costs of %lu and %lu", ulong(cost), ulong(other));
      }
    }
}
