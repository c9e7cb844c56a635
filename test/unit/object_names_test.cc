// SPDX-License-Identifier: MIT
// Names by which objects are shown. Context: tests.
#include "viewer/analyze/object_names.h"

#include <criterion/criterion.h>

#include <string>

using namespace varve;
using format::ObjectKind;

namespace {

/// Nobody waits for two objects of one name where an address is one after the other.
Test(object_names, lives_of_an_address_are_told_apart) {
  load::Profile profile;
  profile.processes.emplace_back();
  profile.paths.emplace_back();
  profile.waits.creations.resize(2);
  profile.waits.creations[0].life = 1, profile.waits.creations[1].life = 2;
  const symbol::SymbolTable symbols;
  const auto words = [&](uint32_t creation) {
    return analyze::object_words({profile, symbols}, {{0}, ObjectKind::kMutex, 0x40, 0, creation});
  };
  const std::string unknown = words(0), first = words(1), second = words(2);
  cr_expect(unknown == "Mutex 0x40", "%s", unknown.c_str());
  cr_expect(second == first + " #2", "%s, %s", first.c_str(), second.c_str());
}

}  // namespace
