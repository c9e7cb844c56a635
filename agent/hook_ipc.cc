// SPDX-License-Identifier: MIT
// System V message queues and semaphores. Who receives waits for who sends; who finds a queue full waits for
// who receives. Whether a call will wait cannot be asked, as for input and output. Threads of other processes
// let each other go on without a word here. Context: any thread of the target; semop also in its signal
// handlers.
#include <sys/msg.h>
#include <sys/sem.h>

#include <algorithm>

#include "agent/hooks.h"
#include "agent/real.h"
#include "agent/wait_trace.h"

namespace varve::agent {
namespace {

using format::ObjectKind;

Real<ssize_t(int, void*, size_t, long, int)> real_msgrcv{"msgrcv"};
Real<int(int, const void*, size_t, int)> real_msgsnd{"msgsnd"};
Real<int(int, sembuf*, size_t)> real_semop{"semop"};
Real<int(int, sembuf*, size_t, const timespec*)> real_semtimedop{"semtimedop"};

uint64_t to_receive(int queue) { return unsigned(queue); }
uint64_t to_send(int queue) { return to_receive(queue) | format::kToSend; }

/// Waits for `awaited`, and lets go on who waits for `other`, where it works.
template <typename Call>
auto exchanged(uint64_t awaited, uint64_t other, Call call) {
  Releasing releasing(ObjectKind::kQueue, other, Sure::kAfter);
  Waiting waiting(ObjectKind::kQueue, awaited, Asked::kNo);
  const auto result = call();
  if (result < 0) releasing.was_none();
  return result;
}

/// What the operations do is looked at where the kernel could read them.
template <typename Call>
int operated(int set, const sembuf* operations, size_t count, Call call) {
  Releasing releasing(ObjectKind::kSemaphores, unsigned(set), Sure::kAfter);
  Waiting waiting(ObjectKind::kSemaphores, unsigned(set), Asked::kNo);
  const int result = call();
  const auto adds = [](const sembuf& operation) { return operation.sem_op > 0; };
  if (result < 0 || std::none_of(operations, operations + count, adds)) releasing.was_none();
  if (result == 0 && std::all_of(operations, operations + count, adds)) waiting.was_none();
  return result;
}

}  // namespace

void resolve_ipc_hooks() { real_msgrcv.get(), real_msgsnd.get(), real_semop.get(), real_semtimedop.get(); }

VARVE_HOOK ssize_t msgrcv(int queue, void* to, size_t size, long type, int flags) {
  return exchanged(to_receive(queue), to_send(queue),
                   [=] { return real_msgrcv(queue, to, size, type, flags); });
}
VARVE_HOOK int msgsnd(int queue, const void* from, size_t size, int flags) {
  return exchanged(to_send(queue), to_receive(queue), [=] { return real_msgsnd(queue, from, size, flags); });
}
VARVE_HOOK int semop(int set, sembuf* operations, size_t count) noexcept {
  return operated(set, operations, count, [=] { return real_semop(set, operations, count); });
}
VARVE_HOOK int semtimedop(int set, sembuf* operations, size_t count, const timespec* timeout) noexcept {
  return operated(set, operations, count, [=] { return real_semtimedop(set, operations, count, timeout); });
}

}  // namespace varve::agent
