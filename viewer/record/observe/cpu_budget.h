// SPDX-License-Identifier: MIT
// CpuBudget: keeps the observer's own CPU time below a share of one processor. What it has used beyond that
// share is a debt, which time pays back; who is too deep in debt has to wait. One look that took long beside
// what looks take is paid back over many of these: mostly a virtual machine had lost its processor meanwhile,
// which the kernel counts as CPU time, and to wait for all of it would leave a hole of a second in what is
// known. Allowance: the end of what may be spent on one thing.
// Context: viewer, one thread.
#pragma once

#include <algorithm>

#include "common/units.h"
#include "viewer/record/clock.h"

namespace varve::record::observe {

class CpuBudget {
 public:
  /// Of one processor. The promise is one in a hundred; the rest is for what is not seen from inside, such as
  /// the switch to this thread.
  static constexpr uint64_t kOneIn = 125;
  /// A debt that delays nothing: what a burst of new threads may cost at once.
  static constexpr Nanos kCredit{5 * kNanosPerMilli.count};

  /// For one long look; several in a row are what a look takes.
  static constexpr Nanos kLongestPause{50 * kNanosPerMilli.count};
  /// So much of a debt may be carried along; what is more is waited for.
  static constexpr Nanos kCarried{30 * kNanosPerMilli.count};

  explicit CpuBudget(Nanos now) : last_(now) {}

  /// `used` CPU time was spent until `now` (CLOCK_MONOTONIC).
  void charge(Nanos now, Nanos used) {
    debt_ = saturating_sub(debt_, {saturating_sub(now, last_).count / kOneIn}) + used;
    last_ = std::max(now, last_);
    usual_ = std::min(used, last_used_);
    last_used_ = used;
  }

  /// When the next work may begin, `period` after the begin of this one or later.
  Nanos next(Nanos began, Nanos period) const {
    // Twice its price between looks pays for them and for the debt.
    const Nanos most = std::max(kLongestPause, Nanos{2 * usual_.count * kOneIn});
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
  Nanos last_used_, usual_;  // for the last look; the less of the last two
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
