// SPDX-License-Identifier: MIT
// A file damaged in many ways, one after the other. Context: tests.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace varve::test {

/// Cuts the file or flips a bit of it, calls `check`, and puts it right again: `rounds` times, and at the end
/// the file is as it was.
void damage_file(const std::string& path, uint64_t seed, const std::function<void()>& check,
                 size_t rounds = 300);

}  // namespace varve::test
