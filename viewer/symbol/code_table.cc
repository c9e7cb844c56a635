// SPDX-License-Identifier: MIT
// Two binary searches.
// Context: viewer.
#include "viewer/symbol/code_table.h"

#include <algorithm>
#include <utility>

namespace varve::symbol {

const CodePiece* CodeTable::piece_at(ModuleId module, uint64_t vaddr) const {
  const auto key = [](const CodePiece& piece) { return std::pair(piece.module, piece.low); };
  auto after = std::ranges::upper_bound(pieces, std::pair(module, vaddr), {}, key);
  if (after == pieces.begin()) return nullptr;
  const CodePiece& piece = *std::prev(after);
  return piece.module == module && piece.contains(vaddr) ? &piece : nullptr;
}

std::span<const Frame> CodeTable::frames_at(ModuleId module, uint64_t vaddr) const {
  auto after = std::ranges::upper_bound(places, load::Site{module, {vaddr}});
  if (after == places.begin()) return {};
  const load::Site& place = *std::prev(after);
  const bool exact = place == load::Site{module, {vaddr}};
  const CodePiece* piece = piece_at(module, vaddr);
  const bool holds = exact || (piece && place.module == module && piece->contains(place.vaddr.value));
  return holds ? names.frames({uint32_t(&place - places.data())}) : std::span<const Frame>();
}

}  // namespace varve::symbol
