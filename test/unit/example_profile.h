// SPDX-License-Identifier: MIT
// One profile with symbols, the same every time: a ray tracer with recursion, inlined calls, stacks that are
// not whole, a module without names and a name that is hard to print. What golden texts are made of. Context:
// tests.
#pragma once

#include "test/unit/random_profile.h"

namespace varve::test {

RandomProfile example_profile();

}  // namespace varve::test
