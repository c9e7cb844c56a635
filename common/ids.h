// SPDX-License-Identifier: MIT
// Strong index types: a thread index cannot be used where a module index is meant.
// Context: any.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace varve {

/// An index into the table named by Tag. `none()` is the value for "there is no such row".
template <typename Tag>
struct Id {
  uint32_t value = UINT32_MAX;

  constexpr auto operator<=>(const Id&) const = default;
  static constexpr Id none() { return {}; }
  constexpr bool valid() const { return value != UINT32_MAX; }
  constexpr size_t index() const { return value; }
};

using ProcessId = Id<struct ProcessTag>;    // a row of Profile::processes, not a pid
using ThreadId = Id<struct ThreadTag>;      // a row of Profile::threads, not a tid
using ModuleId = Id<struct ModuleTag>;      // a row of Profile::modules
using SiteId = Id<struct SiteTag>;          // a row of Profile::sites: one code address of one module
using TrackId = Id<struct TrackTag>;        // a row of RunStates::tracks: a thread as the observer sees it
using PathId = Id<struct PathTag>;          // a node of Profile::paths: one call path
using FunctionId = Id<struct FunctionTag>;  // a row of SymbolTable::functions
using StringId = Id<struct StringTag>;      // a string of a StringTable

}  // namespace varve

template <typename Tag>
struct std::hash<varve::Id<Tag>> {
  size_t operator()(varve::Id<Tag> id) const noexcept { return std::hash<uint32_t>{}(id.value); }
};
