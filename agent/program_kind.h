// SPDX-License-Identifier: MIT
// Whether a program about to be executed can have this library preloaded. A loader of another C library, or
// for 32 bits, would refuse to start the program, or complain on its standard error. Not a check of versions:
// that is the recorder's, before the command. Context: exec and posix_spawn hooks, in vfork children too: no
// allocation.
#pragma once

namespace varve::agent {

/// False where the file is a dynamic program of musl or of another kind of processor, or a script for one.
/// True of all others, also of what cannot be read.
bool takes_preloads(int directory, const char* path);
/// Likewise, of a name that is looked up in PATH where it has no slash.
bool searched_takes_preloads(const char* file);
/// Likewise, of an open file.
bool open_takes_preloads(int fd);

}  // namespace varve::agent
