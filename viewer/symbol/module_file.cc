// SPDX-License-Identifier: MIT
// Opening and checking; the sentences for what is missing.
// Context: viewer.
#include "viewer/symbol/module_file.h"

#include <sys/auxv.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace varve::symbol {
namespace {

constexpr uint64_t kMaxVdso = 1 << 20;

bool has_symtab(const ElfFile& file) {
  const Section* table = file.section_of_type(SHT_SYMTAB);
  return table && table->size > 0;
}

/// Length of the vDSO's mapping that begins at `base`; zero if there is none.
uint64_t vdso_bytes(uint64_t base) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with("[vdso]")) continue;
    size_t dash = line.find('-');
    uint64_t begin = std::strtoull(line.c_str(), nullptr, 16);
    uint64_t end = std::strtoull(line.c_str() + dash + 1, nullptr, 16);
    if (begin == base && end > begin && end - begin <= kMaxVdso) return end - begin;
  }
  return 0;
}

/// When a process first had the module, since the epoch. Most modules are noted when a stack meets them, and
/// then as if they had been there since the process began.
Nanos first_loaded(const load::Profile& profile, ModuleId id) {
  Nanos first{UINT64_MAX};
  for (const load::Mapping& mapping : profile.mappings)
    if (mapping.module == id) first = std::min(first, mapping.load_time);
  if (first.count == UINT64_MAX) first = profile.session.start_time;
  return {profile.session.start_realtime.count + profile.since_start(first).count};
}

std::string missing_note(const ModuleFile& file, const Debuginfod* server) {
  if (file.with_symtab() || file.mini) return {};
  if (server && !server->reason().empty()) return "no symbols: " + server->reason();
  if (!file.layout()) return "the file is gone";
  return server ? "no symbols"
                : "no symbols: install its -dbgsym package and use --debug-dir /usr/lib/debug, or use "
                  "--debuginfod";
}

}  // namespace

const ElfFile* ModuleFile::with_symtab() const {
  for (const auto* file : {&main, &debug})
    if (*file && has_symtab(**file)) return &**file;
  return nullptr;
}

const ElfFile* ModuleFile::with_dwarf() const {
  for (const auto* file : {&main, &debug})
    if (*file && (*file)->has_dwarf()) return &**file;
  return nullptr;
}

std::string module_basename(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

std::optional<ElfFile> open_vdso(std::span<const uint8_t> build_id) {
  uint64_t base = getauxval(AT_SYSINFO_EHDR);
  uint64_t size = base ? vdso_bytes(base) : 0;
  if (!size) return {};
  const auto* bytes = reinterpret_cast<const uint8_t*>(base);
  auto file = ElfFile::from_memory({bytes, bytes + size});
  if (!file || !std::ranges::equal(file->build_id(), build_id)) return {};
  return std::move(*file);
}

std::string changed_words(const ElfFile& file, const load::Profile& profile, ModuleId id) {
  const std::vector<uint8_t>& build_id = profile.modules[id.index()].build_id;
  if (file.build_id() != build_id)
    return "the file has changed since the recording (its build id is another)";
  const bool dated = build_id.empty() && profile.session.start_realtime.count != 0;
  if (dated && file.modified() > first_loaded(profile, id))
    return "the file may have changed since the recording (it is newer than the process, and has no build "
           "id)";
  return {};
}

ModuleFile open_module(const load::Profile& profile, ModuleId id, const ResolveOptions& options,
                       Debuginfod* server) {
  const load::Module& module = profile.modules[id.index()];
  ModuleFile result;
  if (module.path == "[vdso]") {
    result.main = open_vdso(module.build_id);
    if (!result.main) result.note = "of another kernel than the one running here";
    return result;
  }
  std::string refusal;
  auto file = ElfFile::open(options.sysroot + module.path);
  if (!file) {
    refusal = "the file " + file.error();
  } else if (refusal = changed_words(*file, profile, id); refusal.empty()) {
    result.main = std::move(*file);
  }
  bool complete = result.main && has_symtab(*result.main) && result.main->has_dwarf();
  if (!complete)
    result.debug = find_debug_file(result.main ? &*result.main : nullptr, module.build_id, options, server);
  if (result.main && !result.with_symtab()) result.mini = mini_debug_info(*result.main);
  result.note = missing_note(result, server);
  if (!result.note.empty() && !refusal.empty()) result.note = refusal;
  return result;
}

}  // namespace varve::symbol
