// SPDX-License-Identifier: MIT
// Names of what threads wait for, by which objects are shown and filtered: kinds, an object by its variable
// or by where it was made; and the place in the program that waited first or released. Context: viewer.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "viewer/analyze/object_key.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::analyze {

/// A profile with the names of its code and data.
struct Named {
  const load::Profile& profile;
  const symbol::SymbolTable& symbols;
};

/// "Mutex", "Condition"; what a type column has.
std::string_view kind_name(format::ObjectKind kind);

/// What objects of its kind are together: "files", "pipes", "mutexes".
std::string_view kind_of_many(const load::Profile& profile, const ObjectKey& object);

/// "Mutex queue.mu_", "Mutex 0x5581d0 (tiles.cc:41)", "Thread worker (4711)", "Sleep"; "[thread start]" for
/// what is none.
std::string object_words(const Named& source, const ObjectKey& object);

/// Of functions that programs reach a wait through: of the C and C++ libraries, of the layers of their
/// threads, and on the way to them.
bool is_library(std::string_view module, std::string_view name);

/// Where the program itself stood: the innermost frame that is not the C or C++ library's. None for a path
/// without frames.
struct Caller {
  FunctionId function;
  std::string_view file;  // empty: not known
  uint32_t line = 0;
};
Caller caller_of(const Named& source, PathId path, bool inlines = true);

/// The same functions, each path looked at once.
class Callers {
 public:
  Callers(const Named& source, bool inlines) : source_(source), inlines_(inlines) {}
  FunctionId of(PathId path) {
    const auto [known, fresh] = known_.try_emplace(path.value);
    if (fresh) known->second = caller_of(source_, path, inlines_).function;
    return known->second;
  }

 private:
  const Named source_;
  const bool inlines_;
  std::unordered_map<uint32_t, FunctionId> known_;
};

/// "tiles.cc:41 (TileQueue::pop)", or the function alone; empty for none.
std::string caller_words(const Named& source, const Caller& caller);
/// The same in fewer letters: "tiles.cc:41", or the function.
std::string short_caller_words(const Named& source, const Caller& caller);

}  // namespace varve::analyze
