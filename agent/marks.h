// SPDX-License-Identifier: MIT
// What the program itself says through varve.h: marks, and pauses of its own recording. Not the recorder's
// pauses: those stand in the control page. Context: fork, with SIGPROF blocked; the functions that varve.h
// calls are in marks.cc.
#pragma once

namespace varve::agent {

/// In the child of a fork, once its file is begun: nothing is noted yet but that it is paused, if its parent
/// was.
void begin_marks_of_child();

}  // namespace varve::agent
