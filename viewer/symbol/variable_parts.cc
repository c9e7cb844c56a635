// SPDX-License-Identifier: MIT
// One pass over the units for the variables, then down the type of each. Damaged DWARF can make rings of
// types and of entries: both walks are bounded. Context: viewer.
#include "viewer/symbol/variable_parts.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace varve::symbol {
namespace {

constexpr int kMostEntries = 4'000'000;  // looked at in a file: about a second
constexpr int kDeepest = 64;             // scopes in scopes, types in types
constexpr size_t kLongest = 4096;        // bytes of a part, but for its last name

bool holds_variables(int tag) {
  for (int known : {DW_TAG_namespace, DW_TAG_subprogram, DW_TAG_lexical_block})
    if (tag == known) return true;
  return false;
}

/// Of a variable that is always in one place.
std::optional<uint64_t> fixed_address(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Op* expression = nullptr;
  size_t length = 0;
  if (!dwarf_attr(die, DW_AT_location, &attribute) ||
      dwarf_getlocation(&attribute, &expression, &length) != 0)
    return {};
  if (length != 1) return {};
  if (expression[0].atom == DW_OP_addr) return expression[0].number;
  Dwarf_Attribute address;
  Dwarf_Addr value = 0;
  const bool indexed = expression[0].atom == DW_OP_addrx &&
                       dwarf_getlocation_attr(&attribute, &expression[0], &address) == 0 &&
                       dwarf_formaddr(&address, &value) == 0;
  return indexed ? std::optional<uint64_t>(value) : std::nullopt;
}

/// What an entry refers to as its type, whatever that is.
std::optional<Dwarf_Die> next_type(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  const bool typed =
      dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, &type);
  return typed ? std::optional<Dwarf_Die>(type) : std::nullopt;
}

bool only_renames(int tag) {
  for (int known : {DW_TAG_typedef, DW_TAG_const_type, DW_TAG_volatile_type, DW_TAG_atomic_type})
    if (tag == known) return true;
  return false;
}

/// The type of a variable, a member or an array, without names and qualifiers around it. Not
/// dwarf_peel_type() and dwarf_aggregate_size(): those do not come back from a ring of names.
std::optional<Dwarf_Die> type_of(Dwarf_Die* die) {
  std::optional<Dwarf_Die> type = next_type(die);
  for (int depth = 0; type && only_renames(dwarf_tag(&*type)); ++depth)
    type = depth < kDeepest ? next_type(&*type) : std::nullopt;
  return type;
}

std::string_view name_of(Dwarf_Die* die) {
  const char* name = dwarf_diename(die);
  return name ? name : "";
}

/// Members that only their library knows by name.
bool is_reserved(std::string_view name) {
  return name.starts_with("__") || (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z');
}

/// Elements in one dimension of an array; 0: not known.
uint64_t count_of(Dwarf_Die* dimension) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  for (const auto& [name, more] : {std::pair(DW_AT_count, 0), std::pair(DW_AT_upper_bound, 1)})
    if (dwarf_attr(dimension, uint32_t(name), &attribute) && dwarf_formudata(&attribute, &value) == 0)
      return value + uint64_t(more);
  return 0;
}

/// Bytes of a type; 0: not known.
uint64_t size_of(Dwarf_Die* type) {
  if (const int bytes = dwarf_bytesize(type); bytes >= 0) return uint64_t(bytes);
  if (dwarf_tag(type) != DW_TAG_array_type) return dwarf_tag(type) == DW_TAG_pointer_type ? 8 : 0;
  const std::optional<Dwarf_Die> element = type_of(type);
  Dwarf_Die each = element.value_or(Dwarf_Die{}), dimension;
  const int bytes = element ? dwarf_bytesize(&each) : -1;
  uint64_t size = bytes > 0 ? uint64_t(bytes) : 0;
  int left = kDeepest;
  for (bool more = dwarf_child(type, &dimension) == 0; more && --left > 0;
       more = dwarf_siblingof(&dimension, &dimension) == 0)
    if (dwarf_tag(&dimension) == DW_TAG_subrange_type) size *= count_of(&dimension);
  return size;
}

class TypeWalk {
 public:
  explicit TypeWalk(uint64_t offset) : offset_(offset) {}

  std::string from(Dwarf_Die* variable) {
    std::optional<Dwarf_Die> type = type_of(variable);
    for (int depth = 0; type && depth < kDeepest && text_.size() < kLongest; ++depth) type = inner(*type);
    return text_;
  }

 private:
  std::optional<Dwarf_Die> inner(Dwarf_Die& type) {
    switch (dwarf_tag(&type)) {
      case DW_TAG_array_type:
        return element(type);
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
        return member(type);
      default:
        return {};
    }
  }

  std::optional<Dwarf_Die> element(Dwarf_Die& array) {
    std::optional<Dwarf_Die> type = type_of(&array);
    const uint64_t size = type ? size_of(&*type) : 0;
    if (size == 0) return {};
    text_ += fmt::format("[{}]", offset_ / size);
    offset_ %= size;
    return type;
  }

  /// The member or base that holds the offset; what has no name of its own adds none.
  std::optional<Dwarf_Die> member(Dwarf_Die& type) {
    Dwarf_Die child;
    int left = 1 << 16;
    for (bool more = dwarf_child(&type, &child) == 0; more && --left > 0;
         more = dwarf_siblingof(&child, &child) == 0) {
      const int tag = dwarf_tag(&child);
      if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
      std::optional<Dwarf_Die> inside = type_of(&child);
      const std::optional<uint64_t> begin = begin_of(&child);
      if (!inside || !begin || offset_ < *begin || offset_ - *begin >= size_of(&*inside)) continue;
      const std::string_view name = tag == DW_TAG_member ? name_of(&child) : "";
      if (is_reserved(name)) return {};
      if (!name.empty()) text_ += fmt::format(".{}", name);
      offset_ -= *begin;
      return inside;
    }
    return {};
  }

  /// Members of unions have none, and static ones stand elsewhere.
  static std::optional<uint64_t> begin_of(Dwarf_Die* member) {
    Dwarf_Attribute attribute;
    Dwarf_Word begin = 0;
    if (dwarf_hasattr(member, DW_AT_external) || dwarf_hasattr(member, DW_AT_declaration)) return {};
    if (!dwarf_attr_integrate(member, DW_AT_data_member_location, &attribute)) return 0;
    return dwarf_formudata(&attribute, &begin) == 0 ? std::optional<uint64_t>(begin) : std::nullopt;
  }

  uint64_t offset_;
  std::string text_;
};

class Search {
 public:
  explicit Search(std::span<VariablePart> parts) {
    for (VariablePart& part : parts) wanted_[part.variable].push_back(&part);
  }

  void unit(Dwarf_Die* unit) {
    std::vector<Dwarf_Die> open;  // entries whose children are being looked at
    Dwarf_Die die;
    bool more = dwarf_child(unit, &die) == 0;
    const void* before = unit->addr;
    while (!wanted_.empty() && --entries_left_ > 0) {
      while (!more) {
        if (open.empty()) return;
        die = open.back();
        open.pop_back();
        more = dwarf_siblingof(&die, &die) == 0;
      }
      if (die.addr <= before) return;  // damage: a sibling is always further on
      before = die.addr;
      Dwarf_Die child;
      if (dwarf_tag(&die) == DW_TAG_variable) look_at(&die);
      if (open.size() < kDeepest && holds_variables(dwarf_tag(&die)) && dwarf_child(&die, &child) == 0) {
        open.push_back(die);
        die = child;
      } else {
        more = dwarf_siblingof(&die, &die) == 0;
      }
    }
  }

  bool over() const { return wanted_.empty() || entries_left_ <= 0; }

 private:
  void look_at(Dwarf_Die* variable) {
    const std::optional<uint64_t> address = fixed_address(variable);
    const auto wanted = address ? wanted_.find(*address) : wanted_.end();
    if (wanted == wanted_.end()) return;
    for (VariablePart* part : wanted->second) {
      part->part = TypeWalk(part->offset).from(variable);
      part->known = true;
    }
    wanted_.erase(wanted);
  }

  std::unordered_map<uint64_t, std::vector<VariablePart*>> wanted_;
  int entries_left_ = kMostEntries;
};

}  // namespace

void read_variable_parts(const ElfFile& file, std::span<VariablePart> parts) {
  Dwarf* dwarf = file.dwarf();
  if (!dwarf) return;
  Search search(parts);
  Dwarf_CU *unit = nullptr, *next = nullptr;
  uint8_t kind = 0;
  Dwarf_Die skeleton, tree;
  while (!search.over() && dwarf_get_units(dwarf, unit, &next, nullptr, &kind, &skeleton, &tree) == 0) {
    unit = next;
    if (kind != DW_UT_compile && kind != DW_UT_skeleton) continue;
    search.unit(tree.cu && dwarf_tag(&tree) == DW_TAG_compile_unit ? &tree : &skeleton);
  }
}

}  // namespace varve::symbol
