// SPDX-License-Identifier: MIT
// A program image's life in the recording: set up when the agent is loaded or a fork's child begins, closed
// when it exits or becomes another program. Not the threads (thread_registry.h), not the hooks that see these
// moments (hook_process.cc). Context: agent start, fork, exec, exit; SIGPROF blocked by these functions
// themselves.
#pragma once

#include "common/file_format.h"

namespace varve::agent {

/// What the process was given to run with, as its constructor saw it.
struct ProgramArguments {
  int count;
  char** values;
};

/// Reads the session named in the environment and begins recording this process. Any failure leaves the agent
/// off.
void begin_first_image(const ProgramArguments& arguments);

/// The file of the program, from then on; empty where it is not known.
const char* program_file();

/// Leaves word that this process is not recorded, because the kernel refused the handler of SIGPROF.
void refuse_image(long error);

/// Ends the recording of this process for good: no call of the kernel is made from now on.
void leave_image();

/// In the child of a fork: a file of its own, or nothing where following is off.
void begin_forked_image();

/// Writes the ends of process and threads, while they still run for their last moments.
void end_image(format::ImageEnd how);
/// The exec that end_image() announced has failed.
void revoke_end_of_image();

/// True in the process that the recording was set up for: not in a child made by vfork() or raw clone(),
/// which shares or copies our state without our doing.
bool in_recorded_process();

}  // namespace varve::agent
