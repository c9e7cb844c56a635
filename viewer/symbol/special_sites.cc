// SPDX-License-Identifier: MIT
// One table.
// Context: viewer.
#include "viewer/symbol/special_sites.h"

#include <array>

namespace varve::symbol {
namespace {

constexpr std::array<std::string_view, size_t(load::SpecialSite::kCount)> kNames{
    "[start-up]",
    "[residual]",
    "[not sampled]",
    "[paused]",
    "[lost samples]",
    "[Skipped frame(s): stack depth limit]",
    "[Unknown frame(s): no unwind information]",
    "[Unknown frame(s): unreadable stack memory]",
    "[Unknown frame(s): no progress]",
    "[Unknown frame(s): damaged unwind information]",
    "[Unknown frame(s): return address outside code]",
    "[Unknown frame(s): unsupported unwind rule]",
    "[Unknown frame(s): no room for the stack]",
    "[Skipped frame(s): deep recursion]",
    "[Skipped frame(s): stack of a wait not taken]",
};
static_assert(!kNames.back().empty());

}  // namespace

std::string_view special_name(load::SpecialSite kind) {
  return size_t(kind) < kNames.size() ? kNames[size_t(kind)] : "[Unknown frame(s)]";
}

}  // namespace varve::symbol
