// SPDX-License-Identifier: MIT
// See image.h.
// Context: agent start, fork, exec, exit.
#include "agent/image.h"

#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "agent/child_environment.h"
#include "agent/children.h"
#include "agent/descriptor_names.h"
#include "agent/hooks.h"
#include "agent/marks.h"
#include "agent/process_status.h"
#include "agent/refusal.h"
#include "agent/session.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/alternate_stack.h"
#include "agent/signal/clock.h"
#include "agent/signal/filtered.h"
#include "agent/signal/frame_source.h"
#include "agent/signal/loaded_object.h"
#include "agent/signal/unload_gate.h"
#include "agent/signal_block.h"
#include "agent/stack_limits.h"
#include "agent/text.h"
#include "agent/thread_registry.h"
#include "agent/valgrind.h"
#include "agent/wait_trace.h"

namespace varve::agent {
namespace {

constexpr uint32_t kProcessTextBytes = 24 * 1024;
constexpr uint32_t kMaxImages = 100'000;
alignas(64) uint8_t rule_cache_memory[RuleCache::kBytes];

Session session;
char executable[4096];
char process_text[kProcessTextBytes];  // exe, cwd, arguments, each with its NUL
uint32_t process_text_size = 0;
uint32_t path_text_size = 0;  // of it, exe and cwd
uint32_t argument_count = 0;

void append_text(const char* text, size_t length) {
  if (process_text_size + length + 1 > kProcessTextBytes) return;
  std::memcpy(process_text + process_text_size, text, length);
  process_text[process_text_size + length] = 0;
  process_text_size += uint32_t(length) + 1;
}

/// By system call: /proc/self/cwd takes ten times as long, at the start of every process.
void append_working_directory() {
  char path[4096];
  long size = raw_syscall(__NR_getcwd, as_arg(path), sizeof path);  // with its NUL
  append_text(path, size > 0 ? size_t(size) - 1 : 0);
}

void learn_program(const ProgramArguments& arguments) {
  long length =
      raw_syscall(__NR_readlink, as_arg("/proc/self/exe"), as_arg(executable), sizeof executable - 1);
  executable[length > 0 ? length : 0] = 0;
  append_text(executable, std::strlen(executable));
  append_working_directory();
  path_text_size = process_text_size;
  for (int i = 0; i < arguments.count; ++i) {
    uint32_t before = process_text_size;
    append_text(arguments.values[i], std::strlen(arguments.values[i]));
    argument_count += before != process_text_size;
  }
}

/// HOST-PID-IMAGE.agent
bool agent_path(char* path, size_t capacity, uint32_t image) {
  TextBuilder text(path, capacity);
  return !add_process_prefix(text, session.directory).add(image).add(format::kAgentSuffix).overflowed();
}

format::FileHeader file_header(uint32_t image, uint64_t now) {
  timespec real{};
  read_clock(CLOCK_REALTIME, &real);
  format::FileHeader header{};
  std::memcpy(header.magic, format::kMagic, sizeof header.magic);
  std::memcpy(header.session_id, session.header.session_id, sizeof header.session_id);
  header.major = format::kMajor;
  header.minor = format::kMinor;
  header.byte_order = format::kByteOrder;
  header.kind = uint16_t(format::FileKind::kAgent);
  header.pid = agent_state.pid;
  header.ppid = int32_t(raw_syscall(__NR_getppid));
  header.image = image;
  header.start_monotonic_ns = now;
  header.start_realtime_ns = to_nanos(real);
  header.checksum = format::header_checksum(header);
  return header;
}

/// The first number not taken: an exec keeps the pid and finds the file of the image before. 0 or -errno.
long create_file(uint64_t now) {
  char path[sizeof session.directory + 256];
  for (uint32_t image = 0; image < kMaxImages; ++image) {
    if (!agent_path(path, sizeof path, image)) return -ENAMETOOLONG;
    long result = agent_state.file.open(path, file_header(image, now));
    if (result != -EEXIST) return result;
  }
  return -EEXIST;
}

uint32_t process_record_size(uint32_t text_bytes) {
  return format::round_up(uint32_t(sizeof(format::ProcessRecord)) + text_bytes, 8);
}

uint32_t process_chunk_size(uint32_t text_bytes) {
  uint32_t fixed = sizeof(format::ChunkHeader) + sizeof(format::CountersRecord);
  return format::round_up(fixed + process_record_size(text_bytes), format::kChunkUnit);
}

/// One chunk with the process and its counters; both stay mapped and are changed in place. Where the file has
/// a page only, the arguments may be left out.
bool write_process_chunk(uint64_t now, uint64_t start_cpu_ns) {
  ChunkSize wanted{process_chunk_size(process_text_size), process_chunk_size(path_text_size)};
  Chunk chunk = agent_state.file.allocate(format::ChunkType::kProcess, wanted, format::kNoThread, now);
  if (!chunk) return false;
  bool all = chunk.header->capacity >= wanted.wanted;
  uint32_t text_bytes = all ? process_text_size : path_text_size;
  uint32_t size = process_record_size(text_bytes);
  auto* counters = new (chunk.end()) format::CountersRecord{};
  counters->header = {sizeof *counters, uint8_t(format::RecordKind::kCounters), 0};
  counters->count = uint32_t(format::Counter::kCount);
  chunk.commit(sizeof *counters);
  auto* process = new (chunk.end()) format::ProcessRecord{};
  process->header = {uint16_t(size), uint8_t(format::RecordKind::kProcess), 0};
  process->argc = all ? argument_count : 0;
  process->start_cpu_ns = start_cpu_ns;
  std::memcpy(process + 1, process_text, text_bytes);
  chunk.commit(size);
  agent_state.counters = counters;
  agent_state.process = process;
  return true;
}

/// False: not recorded, and a word of why is left; an empty file of the agent's says so itself.
bool refuse(format::Refused what, long error) {
  if (!no_room(error)) note_refusal(session.directory, what, error);
  return false;
}

/// The program's own file is known whether or not a stack leads through it: what waits is asked for its
/// variables where it had no tick. Last, so that where there is little room the thread has its record.
void note_program() {
  ObjectFrameInfo ignored;
  find_and_note_object(getauxval(AT_ENTRY), &ignored);
}

/// A file and its first chunks, modules and rules begun anew.
bool begin_file(uint64_t start_cpu_ns) {
  uint64_t now = monotonic_ns();
  agent_state.pid = int32_t(raw_syscall(__NR_getpid));
  if (long error = create_file(now)) return refuse(format::Refused::kFile, error);
  if (!write_process_chunk(now, start_cpu_ns))
    return refuse(format::Refused::kFile, -agent_state.file.why_not());
  const ModuleLog::Program program{executable, {getauxval(AT_PHDR), uint32_t(getauxval(AT_PHNUM))}};
  agent_state.modules.start(agent_state.file, *agent_state.counters, program, now);
  return true;
}

void learn_own_code() {
  dl_find_object own{};
  if (!find_object(uint64_t(&learn_own_code), own)) return;
  agent_state.own_code = {uint64_t(own.dlfo_map_start), uint64_t(own.dlfo_map_end)};
}

/// Filters that the process was started with do no harm where the recorder has tried all of them.
bool filters_are_tried(uint32_t tried) {
  return tried && raw_syscall(__NR_prctl, PR_GET_SECCOMP) > 0 &&
         status_number("Seccomp_filters") == long(tried);
}

/// A debugger would stop at each SIGTRAP; a filter that the program before this one set for itself may end it
/// for asking.
void take_events() {
  agent_state.events_wanted = true;
  const bool taken = !is_filtered() && status_number("TracerPid") <= 0 && begin_tick_signal(SIGTRAP);
  agent_state.events_allowed.store(taken, std::memory_order_relaxed);
}

bool begin_settings() {
  if (!can_find_objects()) return false;
  if (long error = open_session(session))
    return failed(error) ? refuse(format::Refused::kSession, error) : false;
  const format::ControlBlock& control = *session.control;
  agent_state.control = &control;
  agent_state.interval_ns = control.interval_ns;
  agent_state.stack_depth = control.stack_depth;
  agent_state.walk_limit = walk_limit(control.interval_ns);
  agent_state.follow = control.flags & format::kControlFollow;
  filters_tried.store(filters_are_tried(control.tried_filters), std::memory_order_relaxed);
  if (control.flags & format::kControlEvents) take_events();
  agent_state.events_at_once = control.flags & format::kControlAtOnce;
  agent_state.events_in_step = control.flags & format::kControlInStep;
  agent_state.wait_min_ns = control.flags & format::kControlWaits ? control.wait_min_ns : 0;
  if (control.interval_ns == 0 || control.stack_depth < format::kMinStackDepth ||
      control.stack_depth > format::kMaxStackDepth || agent_state.state() == format::ControlState::kStopped)
    return false;
  return !runs_in_valgrind() || refuse(format::Refused::kValgrind, 0);
}

/// What the thread blocks as the program believes it blocks from now on. Else a signal would be kept for it,
/// or handed to who waits for it, by calls that its filter may end the program for.
void give_mask_back(ThreadBlock& block) {
  const uint64_t blocked = block.program_blocks & agent_state.tick_signals;
  change_mask(SIG_BLOCK, blocked);
  block.program_blocks = 0;
  for (ProgramSignal& each : agent_state.program_signals)
    if (blocked & each.bit()) each.release_pending();
}

}  // namespace

const char* program_file() { return executable; }

bool in_recorded_process() { return agent_state.recorded() && raw_syscall(__NR_getpid) == agent_state.pid; }

void begin_first_image(const ProgramArguments& arguments) {
  SignalBlock block;
  // Of one moment: start-up is counted by the process clock, the rest by the thread's. What lay between them
  // would be counted twice after an exec.
  const uint64_t process_cpu = process_cpu_ns();
  const uint64_t start_cpu_ns = thread_cpu_ns();
  if (!begin_settings()) return;
  learn_program(arguments);
  learn_own_code();
  learn_default_stack_size();
  learn_signal_frame(getauxval(AT_MINSIGSTKSZ));
  agent_state.rules.init(rule_cache_memory, find_and_note_object);
  if (!begin_file(process_cpu)) return;
  ThreadBlock* main = acquire_block();
  if (!main) {
    refuse(format::Refused::kMemory, -ENOMEM);
    return;
  }
  agent_state.active.store(true, std::memory_order_relaxed);
  begin_thread(*main, {.start_cpu_ns = start_cpu_ns, .is_main = true});
  note_program();
}

void refuse_image(long error) {
  if (open_session(session) <= 0) refuse(format::Refused::kHandler, error);
}

void leave_image() {
  {
    SignalBlock block;
    count(format::Counter::kFiltered);
    stop_wait_trace();
    agent_state.active.store(false);  // before: a thread that starts ticks meanwhile ends them itself
    stop_all_ticks();
    drop_carried_environment();  // a program in this one's place would begin under the filter
  }
  if (current_block) give_mask_back(*current_block);
}

void begin_forked_image() {
  agent_state.active.store(false, std::memory_order_relaxed);
  ThreadBlock* block = keep_only_this_thread();
  StackBounds stack = block ? block->stack : StackBounds{};
  current_block = nullptr;
  agent_state.file.forget();
  agent_state.modules.reset();
  agent_state.copied_code.reset();
  agent_state.segments.reset();
  unload_gate.forget_readers();
  agent_state.rules.invalidate();  // a hit would keep its module from being noted in the new file
  for (ProgramSignal& each : agent_state.program_signals) each.reset_after_fork();
  agent_state.counters = nullptr;
  if (!agent_state.follow || agent_state.state() == format::ControlState::kStopped) return;
  if (!block) {
    refuse(format::Refused::kMemory, -ENOMEM);  // its parent's thread had none
    return;
  }
  if (!begin_file(0)) return;
  agent_state.active.store(true, std::memory_order_relaxed);
  // A forked child's CPU clock starts at zero: all its time is ours to account for.
  begin_thread(*block, {.start_cpu_ns = 0, .is_main = true});
  note_program();
  begin_marks_of_child();
  forget_reaped_children();
  forget_descriptor_names();
  block->stack = stack;  // the child goes on where its thread was, on that thread's stack
}

void end_image(format::ImageEnd how) {
  SignalBlock block;
  format::ProcessRecord& process = *agent_state.process;
  // Before the clocks of threads that still run: what they do meanwhile is not time of threads that have
  // ended.
  process.children_cpu_ns = children_cpu_ns();
  process.end_cpu_ns = process_cpu_ns();
  write_ends();
  note_file_error();
  process.end_gap_ns = uint32_t(process_cpu_ns() - process.end_cpu_ns);
  process.end_time_ns = monotonic_ns();
  write_names();
  // Once: a destructor may call _exit().
  if (how == format::ImageEnd::kExit && process.end_kind != uint32_t(how)) write_waits();
  process.end_kind = uint32_t(how);
}

void revoke_end_of_image() {
  SignalBlock block;
  revoke_ends();
  format::ProcessRecord& process = *agent_state.process;
  process.end_cpu_ns = process.end_time_ns = process.children_cpu_ns = 0;
  process.end_kind = uint32_t(format::ImageEnd::kUnknown);
  count(format::Counter::kExecFailed);
}

}  // namespace varve::agent
