// SPDX-License-Identifier: MIT
// varve.h: for programs that want to say something to the profiler that records them: leave this out, go on,
// here begins a phase. To be included, not linked: each call looks whether varve's library is in the process,
// and does nothing, at the cost of a load and a branch, where it is not. C99 and C++, in programs and
// libraries, position independent or not, static too. Any thread, and signal handlers, may call. Not part of
// the agent: agent/marks.cc is what answers. Context: other people's programs.
#ifndef VARVE_H
#define VARVE_H

#if defined(__x86_64__) && defined(__linux__) && !defined(__ILP32__)

typedef void (*varve_order_)(void);
typedef void (*varve_words_)(const char* text);

// A weak reference by way of the global offset table alone. A plain weak declaration is resolved to null when
// a program without position independence is linked; the table's entry is filled in when it starts.
#define VARVE_FIND_(function, symbol)                                                             \
  __asm__(".weak " #symbol "\n\t{movq " #symbol "@GOTPCREL(%%rip), %0|mov %0, QWORD PTR " #symbol \
          "@GOTPCREL[rip]}"                                                                       \
          : "=r"(function))

/// Takes no samples of this process until varve_resume(). The CPU time spent meanwhile is shown as [paused].
/// Pauses do not nest: a second one changes nothing, and one varve_resume() ends them. A forked child begins
/// as its parent is; a program that is started by exec begins recording. Each thread changes over between two
/// of its samples, so pauses shorter than the interval are left out on average, not one by one.
static inline void varve_pause(void) {
  varve_order_ function;
  VARVE_FIND_(function, varve_agent_pause);
  if (function) function();
}

/// Takes samples of this process again, unless `varve pause` or --delay holds back the whole recording.
static inline void varve_resume(void) {
  varve_order_ function;
  VARVE_FIND_(function, varve_agent_resume);
  if (function) function();
}

/// Notes that the calling thread is here now, under a name: for `varve report --time mark:NAME..NAME` and the
/// timeline. At most 120 bytes of the name are kept, and a megabyte of marks a process; a null or empty name
/// is no mark. Takes about a microsecond. Marks are kept while recording is paused, too.
static inline void varve_mark(const char* name) {
  varve_words_ function;
  VARVE_FIND_(function, varve_agent_mark);
  if (function) function(name);
}

#undef VARVE_FIND_

#else  // nothing is recorded here

static inline void varve_pause(void) {}
static inline void varve_resume(void) {}
static inline void varve_mark(const char* name) { (void)name; }

#endif
#endif
