// SPDX-License-Identifier: MIT
// Sockets on which no call waits, because O_NONBLOCK is set. A server makes two such calls a request; to
// stand around one costs 48 ns, a look at the clock before and after and one more return behind a system
// call, to jump on 12. What a number leads to is asked by system calls, so the answer is kept: until the
// program closes, replaces or changes the descriptor past one of our hooks, and for a tenth of a second at
// most, as the C library closes files without them and other processes may share the flag. What waits all
// the same within that time is left to the observer; waits that a transfer ended have nobody who did.
// Context: any thread of the target, its signal handlers included; changed() also in vfork children, whose
// numbers are their own: then there is only more to ask.
#pragma once

#include <atomic>
#include <cstdint>

namespace varve::agent {

class Nonblocking {
 public:
  /// Whether it was found to be so, whenever that was: no more than a load.
  bool may_hold(int fd) const { return last_answer(fd) & kNeverWaits; }
  /// Whether calls on it cannot wait; false where nobody has asked lately. CLOCK_MONOTONIC.
  bool holds(int fd, uint64_t now_ns) const {
    const uint64_t answer = last_answer(fd);
    return (answer & kNeverWaits) && now_ns < answer;
  }
  /// Whether an answer is wanted. Higher numbers than a server commonly has are left out.
  bool is_unknown(int fd, uint64_t now_ns) const {
    return unsigned(fd) < kPlaces && now_ns >= last_answer(fd);
  }

  /// Whether what goes out through it may end a wait of somebody who is seen: what note_transfer() found, for
  /// as long as the answer above holds.
  bool may_be_noted(int fd) const { return !(last_answer(fd) & kNotNoted); }
  /// `answer`: of before it was looked for; meanwhile the number may have come to lead elsewhere.
  void learn_not_noted(int fd, uint64_t answer) {
    if (answer & kNeverWaits) answers_[fd].compare_exchange_strong(answer, answer | kNotNoted);
  }

  void learn(int fd, bool never_waits, uint64_t now_ns) {
    const uint64_t until_ns = now_ns + kHoldsNs;
    if (unsigned(fd) < kPlaces)
      answers_[fd].store((until_ns & ~(kNeverWaits | kNotNoted)) | (never_waits ? kNeverWaits : 0),
                         std::memory_order_relaxed);
  }
  /// Around a call after which the answer may be another one. Twice: another thread may ask meanwhile.
  template <typename Change>
  int changed(int fd, Change change) {
    forget(fd);
    const int result = change();
    forget(fd);
    return result;
  }

  /// Until when it holds, with what it is in the last bits.
  uint64_t last_answer(int fd) const {
    return unsigned(fd) < kPlaces ? answers_[fd].load(std::memory_order_relaxed) : 0;
  }

 private:
  static constexpr unsigned kPlaces = 4096;
  static constexpr uint64_t kHoldsNs = 100'000'000;
  static constexpr uint64_t kNeverWaits = 1, kNotNoted = 2;  // in the time's last bits

  void forget(int fd) {
    if (last_answer(fd) != 0) answers_[fd].store(0, std::memory_order_relaxed);
  }

  std::atomic<uint64_t> answers_[kPlaces]{};  // until when it holds
};
extern Nonblocking nonblocking __attribute__((visibility("hidden")));

}  // namespace varve::agent
