// SPDX-License-Identifier: MIT
// Whether a program about to be executed can have this library preloaded. A loader of another C library, or
// for 32 bits, or a runtime that has to be the first library, would refuse to start the program, or complain
// on its standard error. Not a check of versions: that is the recorder's, before the command. Context: exec
// and posix_spawn hooks, in vfork children too: no allocation.
#pragma once

namespace varve::agent {

/// Whether that is a user-mode emulator, by its name: qemu-aarch64, qemu-x86_64-static. A program of another
/// architecture that it runs would complain of the agent, one of ours would begin a second one in its
/// process.
bool is_emulator(const char* path);

/// Whether a library is a runtime of AddressSanitizer, by its name without folders.
bool is_asan_runtime(const char* name);

/// False where the file is a dynamic program of musl or of another kind of processor, or one that needs the
/// shared runtime of AddressSanitizer, an emulator that is static, which can take nothing out of its
/// environment itself, or a script for one of these. True of all others, also of what cannot be read.
bool takes_preloads(int directory, const char* path);
/// Likewise, of a name that is looked up in PATH where it has no slash.
bool searched_takes_preloads(const char* file);
/// Likewise, of an open file.
bool open_takes_preloads(int fd);

}  // namespace varve::agent
