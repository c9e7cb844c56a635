// SPDX-License-Identifier: MIT
// CpuBudget: keeps the observer's own CPU time below a share of one processor. What it has used beyond that
// share is a debt, which time pays back; who is too deep in debt has to wait. One look that took long
// beside what looks take is paid back over many of these, and so are two or three in a row: the first
// stacks of a program need its unwind tables, and a virtual machine had lost its processor meanwhile, which
// the kernel counts as CPU time. To wait for all of it would leave a hole of a second in what is known.
// Allowance: the end of what may be spent on one thing.
// Context: viewer, one thread.
#pragma once

#include <algorithm>
#include <array>

#include "common/units.h"
#include "viewer/record/clock.h"

namespace varve::record::observe {

class CpuBudget {
 public:
  /// Of one processor. The promise is one in a hundred; the rest is for what is not seen from inside, such as
  /// the switch to this thread.
  static constexpr uint64_t kOneIn = 125;
  /// A debt that delays nothing: what a burst of new threads may cost at once, or the first stacks of a
  /// program (4 to 12 ms, for unwind tables). With 5 ms short runs were seen every 50 ms only, to pay for it.
  static constexpr Nanos kCredit{15 * kNanosPerMilli.count};

  /// For a long look; as many as kUsualOf in a row are what a look takes.
  static constexpr Nanos kLongestPause{50 * kNanosPerMilli.count};
  static constexpr unsigned kUsualOf = 4;
  /// So much of a debt may be carried along; what is more is waited for.
  static constexpr Nanos kCarried{30 * kNanosPerMilli.count};

  explicit CpuBudget(Nanos now) : last_(now) {}

  /// `used` CPU time was spent until `now` (CLOCK_MONOTONIC).
  void charge(Nanos now, Nanos used) {
    debt_ = saturating_sub(debt_, {saturating_sub(now, last_).count / kOneIn}) + used;
    last_ = std::max(now, last_);
    used_[looks_++ % kUsualOf] = used;
  }

  /// When the next work may begin, `period` after the begin of this one or later.
  Nanos next(Nanos began, Nanos period) const {
    // Somewhat more than its price between looks pays for them and, in time, for the debt.
    const Nanos usual = *std::ranges::min_element(used_);
    const Nanos most = std::max(kLongestPause, Nanos{(usual.count + usual.count / 4) * kOneIn});
    const Nanos all{over({}).count * kOneIn}, least{saturating_sub(over({}), kCarried).count * kOneIn};
    return std::max(began + period, last_ + std::max(std::min(all, most), least));
  }

  /// CPU time that may be spent in addition, once in each `period`, without making that longer. Where a debt
  /// is carried along, half of what comes in pays for it.
  Nanos room(Nanos period, Nanos used) const {
    const Nanos earned{period.count / kOneIn}, debt = over(used);
    if (debt > kCarried) return {};
    return saturating_sub({debt.count == 0 ? earned.count : earned.count / 2}, used);
  }

 private:
  /// What is owed beyond the credit, with `more`.
  Nanos over(Nanos more) const { return saturating_sub(debt_ + more, kCredit); }

  Nanos last_;
  Nanos debt_;
  std::array<Nanos, kUsualOf> used_{};  // for the last looks
  unsigned looks_ = 0;
};

/// So much CPU time of this thread from now on. What a look costs differs by ten with the state of the
/// caches, so it is measured and not planned.
class Allowance {
 public:
  explicit Allowance(Nanos room) : end_(clock_now(CLOCK_THREAD_CPUTIME_ID) + room), left_(room.count != 0) {}

  /// Ask before each look.
  bool left() {
    constexpr unsigned kLooksPerReading = 4;  // of the clock, which takes 0.4 us
    if (left_ && ++asked_ % kLooksPerReading == 0) left_ = clock_now(CLOCK_THREAD_CPUTIME_ID) < end_;
    return left_;
  }

 private:
  Nanos end_;
  bool left_;
  unsigned asked_ = 0;
};

}  // namespace varve::record::observe
