// SPDX-License-Identifier: MIT
// Profiles that a screen must be usable with, by name: an ordinary one, and those that are hard to draw.
// Context: tests.
#pragma once

#include <span>

#include "test/unit/random_profile.h"

namespace varve::test {

struct OddProfile {
  const char* name;
  RandomProfile (*make)();
};
std::span<const OddProfile> odd_profiles();

}  // namespace varve::test
