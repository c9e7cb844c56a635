// SPDX-License-Identifier: MIT
// Chains of abstract origins are followed a bounded number of times, since damaged DWARF can make rings of
// them. Context: viewer.
#include "viewer/symbol/source_functions.h"

#include <dwarf.h>
#include <limits.h>
#include <string.h>

#include <algorithm>

#include "viewer/symbol/demangle.h"

namespace varve::symbol {
namespace {

constexpr int kMaxOrigins = 16;
constexpr int kMaxNesting = 64;
constexpr uint32_t kNoParent = UINT32_MAX;
constexpr size_t kMaxQualified = 16 * 1024;

/// The abstract instance: it alone has the attributes that all instances share.
Dwarf_Die abstract_instance(Dwarf_Die die) {
  for (int i = 0; i < kMaxOrigins; ++i) {
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (!dwarf_attr(&die, DW_AT_abstract_origin, &attribute) || !dwarf_formref_die(&attribute, &origin))
      break;
    die = origin;
  }
  return die;
}

std::string text(const char* value) { return value ? value : ""; }

std::string linkage_name(Dwarf_Die* die) {
  for (unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute attribute;
    if (!dwarf_attr_integrate(die, name, &attribute)) continue;
    const char* known = dwarf_formstring(&attribute);
    return known ? std::string(known, strnlen(known, kMaxLinkageName + 1)) : "";
  }
  return {};
}

/// File of the declaration. Not dwarf_decl_file(): it aborts on split DWARF (elfutils 0.188).
std::string declaration_file(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Word index = 0;
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  bool known = dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attribute), &index) == 0 &&
               dwarf_cu_die(attribute.cu, &unit, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) &&
               dwarf_getsrcfiles(&unit, &files, &count) == 0 && index < count;
  const char* name = known ? dwarf_filesrc(files, index, nullptr, nullptr) : nullptr;
  return name != nullptr ? source_path(&unit, {name, strnlen(name, PATH_MAX)}) : std::string();
}

bool is_mangled(std::string_view name) {
  return name.starts_with("_Z") || name.starts_with("_R") || name.starts_with("_D");
}

bool has_namespaces(Dwarf_Die* die) {
  Dwarf_Die unit;
  if (!dwarf_diecu(die, &unit, nullptr, nullptr)) return false;
  int language = dwarf_srclang(&unit);
  for (int known :
       {DW_LANG_C_plus_plus, DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11, DW_LANG_C_plus_plus_14})
    if (language == known) return true;
  return language >= 0x2a && language <= 0x2b;  // C++17 and C++20 of DWARF 6, which compilers already use
}

bool is_scope(int tag) {
  for (int known :
       {DW_TAG_namespace, DW_TAG_class_type, DW_TAG_structure_type, DW_TAG_union_type, DW_TAG_subprogram})
    if (tag == known) return true;
  return false;
}

/// `inner`: the name of what stands in it.
std::string scope_name(Dwarf_Die* die, std::string_view inner) {
  const char* name = dwarf_diename(die);
  if (name) return name;
  if (dwarf_tag(die) == DW_TAG_namespace) return "(anonymous namespace)";
  return inner == "operator()" ? "{lambda}" : "{unnamed}";
}

/// Where a definition was declared: the class or namespace around that is the one that counts.
Dwarf_Die declaration_of(Dwarf_Die die) {
  die = abstract_instance(die);
  Dwarf_Attribute attribute;
  Dwarf_Die declaration;
  bool other =
      dwarf_attr(&die, DW_AT_specification, &attribute) && dwarf_formref_die(&attribute, &declaration);
  return other ? declaration : die;
}

}  // namespace

std::string source_path(Dwarf_Die* unit, std::string_view name) {
  if (name.starts_with('/')) return std::string(name);
  Dwarf_Attribute attribute;
  const char* directory = dwarf_formstring(dwarf_attr_integrate(unit, DW_AT_comp_dir, &attribute));
  return directory == nullptr || *directory == '\0' || strnlen(directory, PATH_MAX) == PATH_MAX
             ? std::string(name)
             : std::string(directory) + "/" + std::string(name);
}

uint32_t SourceFunctions::of(Dwarf_Die die) {
  Dwarf_Die instance = abstract_instance(die);
  auto [known, fresh] = by_die_.try_emplace(instance.addr, kNoFunction);
  if (!fresh || bytes_left_ == 0) return known->second;
  SourceFunction function;
  function.linkage = linkage_name(&instance);
  // C functions renamed by their authors ("__GI___libc_malloc"): the symbol table has the name that callers
  // use.
  if (!is_mangled(function.linkage)) function.linkage.clear();
  function.file = declaration_file(&instance);
  int line = 0;
  if (dwarf_decl_line(&instance, &line) == 0 && line > 0) function.line = uint32_t(line);
  bool needs_scope = function.linkage.empty() && has_namespaces(&instance);
  function.name = needs_scope ? qualified_name(instance) : text(dwarf_diename(&instance));
  if ((function.name.empty() && function.linkage.empty()) || !afford(function)) return kNoFunction;
  std::string identity = (function.linkage.empty() ? function.name : function.linkage) + '\0' +
                         function.file + '\0' + std::to_string(function.line);
  auto [same, added] = by_identity_.try_emplace(identity, uint32_t(functions_.size()));
  if (added) functions_.push_back(std::move(function));
  return by_die_[instance.addr] = same->second;
}

bool SourceFunctions::afford(const SourceFunction& function) {
  uint64_t bytes = function.name.size() + function.linkage.size() + function.file.size();
  const bool affords = bytes <= bytes_left_;
  bytes_left_ -= affords ? bytes : bytes_left_;  // what comes after one that was too much is not read
  return affords;
}

std::string SourceFunctions::qualified_name(Dwarf_Die die) {
  std::string inner = text(dwarf_diename(&die));
  std::string name = inner;
  for (int i = 0; i < kMaxNesting && name.size() < kMaxQualified; ++i) {
    die = declaration_of(die);
    Dwarf_Die unit;
    if (!dwarf_diecu(&die, &unit, nullptr, nullptr)) break;
    const UnitScopes& scopes = scopes_of(unit);
    auto here = std::lower_bound(scopes.begin(), scopes.end(), die.addr,
                                 [](const Nested& scope, const void* addr) { return scope.die.addr < addr; });
    if (here == scopes.end() || here->die.addr != die.addr || here->parent == kNoParent) break;
    die = scopes[here->parent].die;
    inner = scope_name(&die, inner);
    name.insert(0, inner + "::");
  }
  return name;
}

const SourceFunctions::UnitScopes& SourceFunctions::scopes_of(const Dwarf_Die& unit) {
  auto [known, fresh] = units_.try_emplace(unit.addr);
  UnitScopes& scopes = known->second;
  Dwarf_Die die = unit;
  if (!fresh || dwarf_child(&die, &die) != 0) return scopes;
  // Depth first, by hand: the places of the scopes that are open around `die`.
  std::vector<uint32_t> open;
  const void* before = unit.addr;
  while (true) {
    if (die.addr <= before) return scopes;  // damage: a sibling is always further on
    before = die.addr;
    if (is_scope(dwarf_tag(&die))) {
      scopes.push_back({die, open.empty() ? kNoParent : open.back()});
      Dwarf_Die child;
      if (open.size() < kMaxNesting && dwarf_child(&die, &child) == 0) {
        open.push_back(uint32_t(scopes.size() - 1));
        die = child;
        continue;
      }
    }
    while (dwarf_siblingof(&die, &die) != 0) {
      if (open.empty()) return scopes;
      die = scopes[open.back()].die;
      open.pop_back();
    }
  }
}

}  // namespace varve::symbol
