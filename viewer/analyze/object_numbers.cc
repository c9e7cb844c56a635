// SPDX-License-Identifier: MIT
// See object_numbers.h.
// Context: viewer.
#include "viewer/analyze/object_numbers.h"

#include <map>

namespace varve::analyze {

std::vector<uint32_t> object_numbers(const load::Profile& profile) {
  std::map<ObjectKey, uint32_t> known;
  std::vector<uint32_t> numbers;
  numbers.reserve(profile.waits.waits.size());
  for (const load::Wait& wait : profile.waits.waits)
    numbers.push_back(known.try_emplace(key_of(profile, wait), uint32_t(numbers.size() + 1)).first->second);
  return numbers;
}

}  // namespace varve::analyze
