// SPDX-License-Identifier: MIT
// Filters of system calls (seccomp) that this process was started with, as in most containers, and what they
// let pass: some end a program for calls that they do not list, where others return an error. A child tries
// every call of an agent, once; the agents of the run stand under the same filters, and may then ask more of
// the kernel. The recorder makes the calls below only then, too. Context: viewer.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace varve::record {

/// How many filters this process has, if a child of it that made every call of an agent lived on; 0: none, or
/// one that ends programs for such calls, or the kernel does not say how many (before Linux 5.9). To be asked
/// first while there is one thread.
uint32_t tried_filters();

/// Why the calls below are not made, as a sentence's part; empty: they are.
std::string why_filtered();

/// perf_event_open(2) with PERF_FLAG_FD_CLOEXEC: a descriptor, or -1 and errno.
int open_perf_event(const perf_event_attr& attributes, pid_t process, int processor);

/// Reads `size` bytes of another process's memory (process_vm_readv). False, with errno: not all of them.
bool read_process(pid_t process, uint64_t address, void* to, size_t size);

}  // namespace varve::record
