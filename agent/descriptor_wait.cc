// SPDX-License-Identifier: MIT
// See descriptor_wait.h.
// Context: any thread of the target, its signal handlers included.
#include "agent/descriptor_wait.h"

#include <atomic>

#include "agent/allowance.h"
#include "agent/descriptor_names.h"
#include "agent/image.h"
#include "agent/signal/agent_state.h"

namespace varve::agent {
namespace {

constexpr unsigned kPlaces = 1024;

/// By descriptor: when the last transfer began; later than now where none is to be looked at before.
struct LastTransfers {
  std::atomic<uint64_t> begin_ns[kPlaces];
};
constinit LastTransfers last_in, last_out;

std::atomic<uint64_t>& last_of(int fd, Way way) {
  return (way == Way::kIn ? last_in : last_out).begin_ns[unsigned(fd) % kPlaces];
}

/// Nobody has waited long for what comes sooner after the last one.
uint64_t seldom_ns() { return agent_state.wait_min_ns / 2; }

/// What is of no interest now may be a pipe soon, under the same number; of nonblocking sockets what they are
/// known as holds for longer.
constexpr uint64_t kAskAgainNs = 10'000'000;

/// Pipes hold pages, so one that is full gives that much to who asks for it.
constexpr uint64_t kFullPage = 4096;

/// A thousand a second, and two thousand at once: one takes 3 to 6 us, for the stack and the name.
constinit Allowance transfers{1'000'000, 2'000'000'000};

/// What a descriptor is takes up to four system calls to know, 1 to 2 us: a server that asked that of every
/// request would run half as fast again. As many as transfers are noted, and as many again that are not.
constinit Allowance looks{500'000, 2'000'000'000};

/// Three system calls each, less than half a microsecond.
constinit Allowance questions{500'000, 1'000'000'000};

}  // namespace

void ask_whether_it_waits(int fd, uint64_t now_ns) {
  if (questions.take(now_ns) && in_recorded_process())
    nonblocking.learn(fd, is_nonblocking_socket(fd), now_ns);
}

bool is_of_no_interest(int fd, Way way) {
  ThreadBlock* block = traces_waits() ? current_block : nullptr;
  if (!block || !block->live) return true;
  const uint64_t now = block->clock.now_ns(wait_trace.tick_length);
  if (!nonblocking.holds(fd, now)) return false;
  if (way == Way::kIn || !nonblocking.may_be_noted(fd)) return true;  // who fills a socket is not asked for
  std::atomic<uint64_t>& last = last_of(fd, way);
  const uint64_t before = last.load(std::memory_order_relaxed);
  if (now >= before + seldom_ns() && transfers.has_any(now)) return false;
  if (now >= before) last.store(now, std::memory_order_relaxed);
  return true;
}

void note_transfer(int fd, Way way, uint64_t bytes, uint64_t begin_ns, uint64_t took_ns) {
  std::atomic<uint64_t>& last = last_of(fd, way);
  const uint64_t before = last.load(std::memory_order_relaxed);
  if (begin_ns < before) return;
  last.store(begin_ns, std::memory_order_relaxed);
  if (begin_ns < before + seldom_ns()) return;
  // It was empty, so nobody waited to send; unless the thread only had no processor for a while.
  if (way == Way::kIn && took_ns > seldom_ns() && bytes < kFullPage) return;
  if (!transfers.has_any(begin_ns) || !looks.take(begin_ns)) return;
  const uint64_t answer = nonblocking.last_answer(fd);
  const Traffic traffic = traffic_of(fd);
  if (traffic == Traffic::kNone && way == Way::kOut) nonblocking.learn_not_noted(fd, answer);
  if (traffic == Traffic::kNone || (way == Way::kIn && traffic != Traffic::kPipe))
    return last.store(begin_ns + kAskAgainNs, std::memory_order_relaxed);
  if (transfers.take(begin_ns)) note_release(format::ObjectKind::kDescriptor, released_by(fd, way), begin_ns);
}

}  // namespace varve::agent
