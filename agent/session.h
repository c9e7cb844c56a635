// SPDX-License-Identifier: MIT
// The session that this process belongs to: its directory from the environment, its control page from the
// session file. The only place where the agent reads an environment variable. Context: agent start.
#pragma once

#include "common/file_format.h"

namespace varve::agent {

/// Names of the environment variables that carry the recording to child processes.
inline constexpr char kSessionVariable[] = "VARVE_SESSION";
inline constexpr char kPreloadVariable[] = "LD_PRELOAD";

struct Session {
  char directory[4096];
  format::FileHeader header;            // of the session file: the id that all files of the run share
  const format::ControlBlock* control;  // mapped shared, read only
};

/// The value of a variable in an environment block, or null.
const char* find_variable(char* const* environment, const char* name);

/// Finds and maps the session. 0; 1 where there is none, or its file is not one; or the -errno with which the
/// kernel refused it, and then `session` has its directory.
long open_session(Session& session);

}  // namespace varve::agent
