// SPDX-License-Identifier: MIT
// Word of a process that could not be recorded, for a report: an empty file whose name says what the kernel
// refused to the agent at its start, or why that did not begin. Made by mknod, which needs neither a
// descriptor nor room in the file system. Context: agent start, fork.
#pragma once

#include "common/file_format.h"

namespace varve::agent {

class TextBuilder;

/// Adds DIRECTORY/HOST-PID-, with which all files of a process begin. Slashes in a host name would be another
/// folder.
TextBuilder& add_process_prefix(TextBuilder& text, const char* directory);

/// `error` is -errno, 0 where the kernel refused nothing. Without a directory that exists nothing is said.
void note_refusal(const char* directory, format::Refused what, long error);

}  // namespace varve::agent
