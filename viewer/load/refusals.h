// SPDX-License-Identifier: MIT
// Refusals: processes whose agent could not begin, told by the names of empty files. Context: viewer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/file_format.h"

namespace varve::load {

struct Refusal {
  int32_t pid = 0;
  format::Refused what = format::Refused::kFile;
  int error = 0;  // errno
};

/// What a name HOST-PID-WORD-ERRNO.refused says; none where it is no such name.
std::optional<Refusal> refusal_of(std::string_view file);

/// "its file could not be made (Too many open files)"
std::string refusal_words(const Refusal& refusal);

}  // namespace varve::load
