// SPDX-License-Identifier: MIT
// Opening files whose paths, or whose kinds, strangers decide: those of a profile, and those that it names.
// Not a reader: file_source.h is, for a profile's own. Context: viewer, any thread.
#pragma once

#include <sys/stat.h>

#include <string>

namespace varve::load {

/// Opens a regular file for reading, and nothing that opening could block on or disturb. -1 with errno
/// otherwise: EINVAL for what is no regular file.
int open_regular_file(const std::string& path, bool follow_links);

/// Whether a file takes far less room on its disk than it is long. Readers take memory and time by a file's
/// length, and archives hold holes of any length in a few bytes.
bool is_mostly_holes(const struct stat& info);

}  // namespace varve::load
