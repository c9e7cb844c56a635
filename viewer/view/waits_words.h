// SPDX-License-Identifier: MIT
// The summary's sentence on waits. Context: viewer.
#pragma once

#include <string>

#include "viewer/view/request.h"

namespace varve::view {

/// Of the locks, conditions, semaphores and barriers the one that threads waited for longest while processors
/// idled, and who ended that; empty where it is not worth a word: below a twentieth of the elapsed time.
std::string waits_words(const Source& source, const Request& request);

}  // namespace varve::view
