// SPDX-License-Identifier: MIT
// See thread_registry.h.
// Context: any thread of the target, with SIGPROF blocked.
#include "agent/thread_registry.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <atomic>
#include <cstring>
#include <new>

#include "agent/signal/agent_state.h"
#include "agent/signal/alternate_stack.h"
#include "agent/signal/clock.h"
#include "agent/signal/tick_source.h"
#include "agent/signal_block.h"
#include "agent/stack_limits.h"
#include "agent/text.h"
#include "agent/wait_trace.h"

namespace varve::agent {
namespace {

constexpr uint32_t kGuardBytes = 4096;
/// Blocks kept for threads to come; the memory of a burst of threads goes back.
constexpr uint32_t kMaxFreeBlocks = 64;
constexpr uint32_t kFirstThreadChunk =
    format::round_up(sizeof(format::ChunkHeader) + sizeof(format::ThreadRecord), format::kChunkUnit);
constexpr uint32_t kLargestThreadChunk = 64 * 1024;

struct Registry {
  SpinLock lock;
  ThreadBlock* live = nullptr;
  ThreadBlock* free = nullptr;
  uint32_t free_count = 0;
  Chunk records;
  uint32_t next_index = 0;
};
constinit Registry registry;

class RegistryGuard {
 public:
  RegistryGuard() { registry.lock.lock(); }
  ~RegistryGuard() { registry.lock.unlock(); }
  RegistryGuard(const RegistryGuard&) = delete;
  RegistryGuard& operator=(const RegistryGuard&) = delete;
};

uint64_t frames_bytes() { return 2 * uint64_t(agent_state.stack_depth) * sizeof(uint64_t); }

uint64_t block_bytes() {
  return kGuardBytes + kAlternateStackBytes + sizeof(ThreadBlock) + frames_bytes() + sizeof(FramePredictor);
}

/// What a block's writer works with lies behind the block and outlives its threads: most of it is never
/// touched.
uint64_t* frames_of(ThreadBlock& block) { return reinterpret_cast<uint64_t*>(&block + 1); }
FramePredictor& predictor_of(ThreadBlock& block) {
  return *reinterpret_cast<FramePredictor*>(reinterpret_cast<uint8_t*>(&block + 1) + frames_bytes());
}

/// Guard page, alternate stack, block, frames, predictor: one mapping.
ThreadBlock* map_block() {
  long memory = raw_syscall(__NR_mmap, 0, long(block_bytes()), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (failed(memory)) return nullptr;
  raw_syscall(__NR_mprotect, memory, kGuardBytes, PROT_NONE);
  auto* stack = reinterpret_cast<uint8_t*>(memory) + kGuardBytes;
  auto* block = new (stack + kAlternateStackBytes) ThreadBlock;
  block->alternate_stack = stack;
  return block;
}

void unmap_block(ThreadBlock& block) {
  raw_syscall(__NR_munmap, as_arg(block.alternate_stack - kGuardBytes), long(block_bytes()));
}

/// The state of a block before its thread, whatever thread had it last.
void renew(ThreadBlock& block) {
  uint8_t* stack = block.alternate_stack;
  new (&block) ThreadBlock;
  block.alternate_stack = stack;
}

void keep_or_unmap(ThreadBlock& block) {
  if (registry.free_count >= kMaxFreeBlocks) return unmap_block(block);
  block.next = registry.free;
  registry.free = &block;
  ++registry.free_count;
}

void link(ThreadBlock& block) {
  block.previous = nullptr;
  block.next = registry.live;
  if (registry.live) registry.live->previous = &block;
  registry.live = &block;
}

void unlink(ThreadBlock& block) {
  (block.previous ? block.previous->next : registry.live) = block.next;
  if (block.next) block.next->previous = block.previous;
}

/// Makes sure that the current chunk of records has room for one more. False: the file has none.
bool have_record_room(uint64_t time_ns) {
  if (registry.records && registry.records.room() >= sizeof(format::ThreadRecord)) return true;
  uint32_t bytes = registry.records ? registry.records.header->capacity * 4 : kFirstThreadChunk;
  if (bytes > kLargestThreadChunk) bytes = kLargestThreadChunk;
  Chunk next;
  const auto allocate = [&] {
    next = agent_state.file.allocate(format::ChunkType::kThreads, exactly(bytes), format::kNoThread, time_ns);
    return bool(next);
  };
  // Another thread may hold the file while it grows, for longer than a tick could wait.
  constexpr int kMostTries = 50;
  const timespec pause{0, 1'000'000};
  for (int i = 0; !allocate() && i < kMostTries && !agent_state.file.why_not(); ++i)
    raw_syscall(__NR_nanosleep, as_arg(&pause), 0);
  if (!next) return false;
  if (registry.records) agent_state.file.release(registry.records);
  registry.records = next;
  return true;
}

/// A record in the file, and its index; the block's own memory where the file has no room.
void assign_record(ThreadBlock& block, uint64_t time_ns) {
  constexpr uint32_t kSize = sizeof(format::ThreadRecord);
  bool in_file = have_record_room(time_ns);
  block.record =
      in_file ? reinterpret_cast<format::ThreadRecord*>(registry.records.end()) : &block.unrecorded;
  *block.record = {};
  block.record->header = {kSize, uint8_t(format::RecordKind::kThread), 0};
  // Nobody may tell of a thread by a number that no record explains.
  block.record->index = in_file ? registry.next_index++ : format::kNoThread;
  block.record->start_time_ns = time_ns;
  block.record->tid = int32_t(raw_syscall(__NR_gettid));
  if (!in_file) {
    note_file_error();
    return count(format::Counter::kThreadsUnsampled);
  }
  block.record_chunk = registry.records;
  agent_state.file.retain(registry.records);
  registry.records.commit(kSize);
}

/// A thread that ended inside its own signal handler still stands on the alternate stack: that memory is not
/// used again.
bool stands_on_alternate_stack(const ThreadBlock& block) {
  auto here = reinterpret_cast<uint8_t*>(__builtin_frame_address(0));
  return here >= block.alternate_stack && here < block.alternate_stack + kAlternateStackBytes;
}

void hand_on_segment(ThreadBlock& block) {
  Segment segment = block.writer.take_segment();
  if (!segment.chunk || agent_state.segments.give(segment)) return;
  ProcessFile::seal(segment.chunk);
  agent_state.file.release(segment.chunk);
}

void write_own_end(format::ThreadRecord& record) {
  raw_syscall(__NR_prctl, PR_GET_NAME, as_arg(record.name));
  record.end_cpu_ns = thread_cpu_ns();
  if (!record.end_cpu_ns) count(format::Counter::kClockRefused);
  record.end_time_ns = monotonic_ns();
  record.header.flags &= uint8_t(~format::kThreadEndEstimated);
}

void write_end_of_other(format::ThreadRecord& record) {
  uint64_t cpu = cpu_clock_ns(thread_clock(record.tid));
  if (!cpu) return;
  record.header.flags |= format::kThreadEndEstimated;
  record.end_cpu_ns = cpu;
  record.end_time_ns = monotonic_ns();
}

}  // namespace

ThreadBlock* acquire_block() {
  {
    RegistryGuard guard;
    if (ThreadBlock* block = registry.free) {
      registry.free = block->next;
      --registry.free_count;
      renew(*block);
      return block;
    }
  }
  return map_block();
}

void release_block(ThreadBlock* block) {
  RegistryGuard guard;
  keep_or_unmap(*block);
}

void begin_thread(ThreadBlock& block, const ThreadStart& start) {
  uint64_t now = monotonic_ns();
  {
    RegistryGuard guard;
    assign_record(block, now);
    link(block);
  }
  format::ThreadRecord& record = *block.record;
  if (start.is_main) record.header.flags |= format::kThreadMain;
  record.creator = block.creator;
  if (block.created_ns != 0) {
    const uint64_t ago = now - block.created_ns;
    record.created_ago_ns = ago < UINT32_MAX ? uint32_t(ago) : UINT32_MAX;
  }
  record.start_routine = uint64_t(block.start_routine);
  record.start_cpu_ns = record.last_cpu_ns = block.last_cpu_ns = start.start_cpu_ns;
  raw_syscall(__NR_prctl, PR_GET_NAME, as_arg(record.name));
  block.stack = start.is_main ? main_stack() : thread_stack(block.stack_bytes, block.stack_low);
  block.writer.bind(frames_of(block), agent_state.stack_depth, predictor_of(block), record.index);
  install_alternate_stack(block);
  current_block = &block;
  block.live = true;
  begin_ticks(block);
}

void begin_ticks(ThreadBlock& block) {
  const long result = block.has_small_stack ? 0 : start_ticks(block, interval_of(block));
  if (!block.has_small_stack && !failed(result)) return;
  block.record->header.flags |= format::kThreadNoTimer;
  block.record->timer_errno = uint16_t(-result);
  count(block.has_small_stack ? format::Counter::kSmallStacks : format::Counter::kTimerCreateFailed);
}

/// What it has used meanwhile is of no tick.
void change_ticks_with_stack(ThreadBlock& block, bool is_small) {
  if (is_small == block.has_small_stack) return;
  block.has_small_stack = is_small;
  end_ticks(block);
  if (!is_small) {
    block.record->header.flags &= uint8_t(~format::kThreadNoTimer);
    block.last_cpu_ns = block.record->last_cpu_ns = thread_cpu_ns();
  }
  begin_ticks(block);
}

void stop_all_ticks() {
  RegistryGuard guard;
  for (ThreadBlock* block = registry.live; block; block = block->next)
    if (block != current_block) stop_ticks(*block);
  if (current_block) end_ticks(*current_block);
}

void end_thread(ThreadBlock& block) {
  end_ticks(block);
  end_waits(block);
  block.live = false;
  current_block = nullptr;
  remove_alternate_stack(block);
  hand_on_segment(block);
  {
    RegistryGuard guard;  // an exec that fails meanwhile takes the ends of all others back
    write_own_end(*block.record);
    unlink(block);
  }
  if (block.record_chunk) agent_state.file.release(block.record_chunk);
  if (!stands_on_alternate_stack(block)) release_block(&block);
}

void note_cancellation(int32_t tid, uint64_t time_ns) {
  RegistryGuard guard;
  for (ThreadBlock* block = registry.live; block; block = block->next)
    if (uint64_t never = 0; block->record->tid == tid)
      block->cancelled_ns.compare_exchange_strong(never, time_ns, std::memory_order_relaxed);
}

void write_ends() {
  RegistryGuard guard;
  for (ThreadBlock* block = registry.live; block; block = block->next)
    if (block != current_block) write_end_of_other(*block->record);
  if (current_block) write_own_end(*current_block->record);
}

void write_names() {
  RegistryGuard guard;
  for (ThreadBlock* block = registry.live; block; block = block->next)
    if (block != current_block)
      read_thread_name(block->record->tid, block->record->name, sizeof block->record->name);
}

void write_waits() {
  RegistryGuard guard;
  if (current_block) end_waits(*current_block);
  for (ThreadBlock* block = registry.live; block; block = block->next)
    if (block != current_block) end_waits_of_other(*block);
}

void revoke_ends() {
  RegistryGuard guard;
  for (ThreadBlock* block = registry.live; block; block = block->next) {
    block->record->end_cpu_ns = block->record->end_time_ns = 0;
    block->record->header.flags &= uint8_t(~format::kThreadEndEstimated);
  }
}

ThreadBlock* keep_only_this_thread() {
  registry.lock.unlock();  // a thread that the fork did not copy may have held it
  ThreadBlock* mine = current_block;
  for (ThreadBlock *block = registry.live, *next; block; block = next) {
    next = block->next;
    if (block != mine) keep_or_unmap(*block);
  }
  registry.live = nullptr;
  registry.records = {};
  registry.next_index = 0;
  if (mine) {
    mine->record = &mine->unrecorded;
    mine->record_chunk = {};
    mine->timer = -1;
    mine->event_page = 0;  // which a fork does not copy
    mine->judged = {};
    mine->timer_since = {};
    mine->in_step = false;
    mine->event_cpu_ns = 0;
    mine->live = false;
    mine->self_limit = {};
    mine->creator = format::kNoThread;
    mine->created_ns = 0;
    mine->short_waits = {};
    mine->slice = {};
    mine->open_wait = {};
    mine->open_scope = nullptr;
  }
  return mine;
}

}  // namespace varve::agent
