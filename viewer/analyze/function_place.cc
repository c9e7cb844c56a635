// SPDX-License-Identifier: MIT
// See function_place.h.
// Context: viewer.
#include "viewer/analyze/function_place.h"

#include <fmt/format.h>

#include <charconv>

#include "viewer/analyze/filter.h"

namespace varve::analyze {
namespace {

constexpr std::string_view kOffset = "+0x";

/// "libx.so+0x1234" for any address of the function.
bool holds_address(std::string_view module, const symbol::Function& function, std::string_view place) {
  if (function.low.value == 0 || !place.starts_with(module)) return false;
  place.remove_prefix(module.size());
  if (!place.starts_with(kOffset)) return false;
  place.remove_prefix(kOffset.size());
  uint64_t vaddr = 0;
  const auto [end, error] = std::from_chars(place.data(), place.data() + place.size(), vaddr, 16);
  if (error != std::errc() || end != place.data() + place.size()) return false;
  return vaddr == function.low.value ||
         (vaddr > function.low.value && vaddr - function.low.value < function.size);
}

}  // namespace

std::string function_place(const load::Profile& profile, const symbol::SymbolTable& symbols, FunctionId id) {
  const symbol::Function& function = symbols.functions[id.index()];
  const std::string_view module = module_name(profile, function.module);
  const std::string_view file = symbols.strings.text(function.file);
  if (function.low.value != 0) return fmt::format("{}{}{:x}", module, kOffset, function.low.value);
  if (!file.empty()) return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), function.line);
  return std::string(module);
}

std::string name_with_place(const load::Profile& profile, const symbol::SymbolTable& symbols,
                            FunctionId function) {
  return fmt::format("{}@{}", symbols.strings.text(symbols.functions[function.index()].name),
                     function_place(profile, symbols, function));
}

bool is_at_place(const load::Profile& profile, const symbol::SymbolTable& symbols, FunctionId id,
                 std::string_view place) {
  const symbol::Function& function = symbols.functions[id.index()];
  const std::string_view module = module_name(profile, function.module);
  return place == module || holds_address(module, function, place) ||
         place == function_place(profile, symbols, id);
}

std::vector<bool> ambiguous_functions(const symbol::SymbolTable& symbols) {
  std::vector<uint32_t> bearers(symbols.strings.size());
  const auto add = [&](StringId name) {
    if (name.valid()) ++bearers[name.index()];
  };
  for (const symbol::Function& function : symbols.functions) {
    add(function.name);
    if (function.short_name != function.name) add(function.short_name);
    if (function.linkage_name != function.name && function.linkage_name != function.short_name)
      add(function.linkage_name);
  }
  std::vector<bool> result;
  for (const symbol::Function& function : symbols.functions)
    result.push_back(function.source != symbol::NameSource::kSpecial && bearers[function.name.index()] > 1);
  return result;
}

}  // namespace varve::analyze
