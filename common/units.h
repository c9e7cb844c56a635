// SPDX-License-Identifier: MIT
// Units as types: a duration cannot be added to an address, and every number says what it counts.
// Not a clock: reading time belongs to agent/signal/clock.h and to the recorder.
// Context: any.
#pragma once

#include <compare>
#include <cstdint>

namespace varve {

/// Nanoseconds: of CPU time, or of CLOCK_MONOTONIC when the name says `time`.
struct Nanos {
  uint64_t count = 0;

  constexpr auto operator<=>(const Nanos&) const = default;
  constexpr Nanos& operator+=(Nanos other) { return count += other.count, *this; }
  constexpr Nanos& operator-=(Nanos other) { return count -= other.count, *this; }
};

constexpr Nanos operator+(Nanos a, Nanos b) { return {a.count + b.count}; }
constexpr Nanos operator-(Nanos a, Nanos b) { return {a.count - b.count}; }

/// a - b, or zero where clocks of two sources disagree and b is the larger.
constexpr Nanos saturating_sub(Nanos a, Nanos b) { return a > b ? a - b : Nanos{}; }

constexpr Nanos kNanosPerSecond{1'000'000'000};
constexpr Nanos kNanosPerMilli{1'000'000};

/// In seconds, for words.
constexpr double in_seconds(Nanos time) { return double(time.count) / 1e9; }

/// A virtual address of a target process, or an ELF virtual address when the name says `vaddr`.
struct Address {
  uint64_t value = 0;

  constexpr auto operator<=>(const Address&) const = default;
};

}  // namespace varve
