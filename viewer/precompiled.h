// SPDX-License-Identifier: MIT
// Headers of libraries that most of our files include; the Makefile compiles them once and puts them before
// each file. Not a header to include. Context: viewer and tests.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
#include <vector>
