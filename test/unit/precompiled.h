// SPDX-License-Identifier: MIT
// Headers of libraries that most unit tests include; the Makefile compiles them once and puts them before
// each. Not a header to include. Context: tests.
#include <criterion/criterion.h>

#include "viewer/precompiled.h"
