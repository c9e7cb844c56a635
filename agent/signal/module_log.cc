// SPDX-License-Identifier: MIT
// See module_log.h.
// Context: signal, agent start, dlclose hook.
#include "agent/signal/module_log.h"

#include <cstring>

#include "agent/signal/clock.h"
#include "agent/signal/frame_lookup.h"
#include "agent/signal/kernel_copy.h"
#include "agent/signal/loaded_object.h"

namespace varve::agent {
namespace {

constexpr uint32_t kFirstChunkBytes = 512;  // holds the three or four modules of most programs' stacks
constexpr uint32_t kLargestChunkBytes = 16384;

const link_map* tombstone() { return reinterpret_cast<const link_map*>(uintptr_t{1}); }

uint32_t slot_of(const link_map* map) { return uint32_t(uintptr_t(map) >> 4) * 0x9E3779B1u >> 21; }
static_assert(1u << (32 - 21) == 2048, "slot_of() yields an index below ModuleLog::kSlots");

template <typename T>
uint8_t* put(uint8_t* out, const T* data, uint32_t count) {
  std::memcpy(out, data, sizeof(T) * count);
  return out + sizeof(T) * count;
}

}  // namespace

void ModuleLog::start(ProcessFile& file, format::CountersRecord& counters, const Program& program,
                      uint64_t time_ns) {
  file_ = &file;
  counters_ = &counters;
  program_ = program;
  start_time_ns_ = time_ns;
}

void ModuleLog::reset() {
  lock_.unlock();
  chunk_ = {};
  next_module_ = known_count_ = 0;
  while (taken_count_) known_[taken_[--taken_count_]].map.store(nullptr, std::memory_order_relaxed);
}

ModuleLog::Known* ModuleLog::find(const dl_find_object& found, uint64_t start) {
  const link_map* map = found.dlfo_link_map;
  for (uint32_t slot = slot_of(map), i = 0; i < kSlots; ++i, slot = (slot + 1) % kSlots) {
    Known& known = known_[slot];
    const link_map* key = known.map.load(std::memory_order_acquire);
    if (!key) return nullptr;
    const bool same = key == map && known.frames == found.dlfo_eh_frame;
    if (same && start >= known.start && start < known.end) return &known;
  }
  return nullptr;
}

ModuleLog::Noted ModuleLog::note(const dl_find_object& found) {
  const auto of = [](bool tables) { return tables ? Noted::kWithTables : Noted::kWithoutTables; };
  const auto start = uint64_t(found.dlfo_map_start);
  if (const Known* known = find(found, start)) return of(known->has_tables);
  SpinGuard guard(lock_);
  if (!guard.owns()) return Noted::kNot;
  if (const Known* known = find(found, start)) return of(known->has_tables);
  Described module;
  if (!describe(found, module)) return Noted::kNot;
  return add(module, module.image.code[0].begin) ? of(module.has_tables) : Noted::kNot;
}

bool ModuleLog::note_copy(const dl_find_object& found, CodeRange copy, uint64_t origin) {
  SpinGuard guard(lock_);
  if (!guard.owns()) return false;
  if (find(found, copy.begin)) return true;
  Described module;
  if (!describe(found, module)) return false;
  module.bias += copy.begin - origin;
  module.image.start = copy.begin;
  module.image.end = copy.end;
  module.image.code[0] = copy;
  module.image.code_count = 1;
  add(module, origin);  // its rules are no object's
  return true;
}

void ModuleLog::note_gone(uint64_t start) {
  SpinGuard guard(lock_);
  for (uint32_t i = 0; guard.owns() && i < taken_count_; ++i) {
    Known& known = known_[taken_[i]];
    const bool used = known.map.load(std::memory_order_relaxed) != tombstone();
    if (used && known.start == start) unload(known, monotonic_ns());
  }
}

/// The headers of a library stand at the start of its mapping. Where they do not, the lookup's range must do.
/// False: the module may have been unloaded meanwhile, and what was read of it be another's.
bool ModuleLog::describe(const dl_find_object& found, Described& module) {
  link_map map;
  if (!copy_by_kernel(uint64_t(found.dlfo_link_map), &map, sizeof map)) return false;
  module.map = found.dlfo_link_map;
  module.frames = found.dlfo_eh_frame;
  module.bias = map.l_addr;
  module.path = path_of(map.l_name);
  if (!module.path) return false;
  const auto begin = uint64_t(found.dlfo_map_start), end = uint64_t(found.dlfo_map_end);
  const bool is_program = module.path == program_.path;
  const ProgramHeaders headers = is_program ? program_.headers : mapped_program_headers(begin, end - begin);
  ElfImage& image = module.image;
  WindowedCopy bytes(window_, sizeof window_);
  module.has_tables = module.frames && has_frame_tables(bytes, uint64_t(module.frames));
  if (!read_program_headers(headers, map.l_addr, bytes, image)) return false;
  if (!image.code_count) image = {begin, end, {{begin, end}}, 1, 0, {}};
  dl_find_object still{};
  return find_object(begin, still) && still.dlfo_link_map == module.map;
}

/// What to show of a link map's name: the program has none, and the vDSO one of no file. Null: it cannot be
/// read.
const char* ModuleLog::path_of(const char* name) {
  if (!name) return program_.path;
  KernelCopy bytes;
  cfi::Cursor in(bytes.span(uint64_t(name), uint64_t(name) + sizeof path_ - 1));
  char* out = path_;
  while (!in.empty() && (*out = in.read<char>())) ++out;
  *out = 0;
  if (!in.ok()) return nullptr;
  if (!*path_) return program_.path;
  return std::strcmp(path_, "linux-vdso.so.1") ? path_ : "[vdso]";
}

/// Space for one record, in a new chunk if need be; null where there is none.
uint8_t* ModuleLog::reserve(uint32_t bytes, uint64_t time_ns) {
  if (chunk_ && chunk_.room() >= bytes) return chunk_.end();
  uint32_t size = chunk_ ? chunk_.header->capacity * 2 : kFirstChunkBytes;
  while (size < sizeof(format::ChunkHeader) + bytes) size *= 2;
  if (size > kLargestChunkBytes) size = kLargestChunkBytes;
  Chunk next = file_->allocate(format::ChunkType::kModules, exactly(size), format::kNoThread, time_ns);
  if (!next || next.room() < bytes) return nullptr;
  if (chunk_) ProcessFile::seal(chunk_);
  chunk_ = next;
  return chunk_.end();
}

/// Addresses belong to the module from the moment the one before it was gone; the first of its place, from
/// the start. (The tick that meets a module first may be older than another thread's that met it through the
/// rule cache.)
uint64_t ModuleLog::retire_overlapping(uint64_t start, uint64_t end, uint64_t time_ns, bool& retired) {
  uint64_t since = start_time_ns_;
  for (uint32_t i = 0; i < taken_count_; ++i) {
    Known& known = known_[taken_[i]];
    if (known.start >= end || known.end <= start) continue;
    if (known.map.load(std::memory_order_relaxed) != tombstone()) unload(known, time_ns), retired = true;
    if (known.unload_ns > since) since = known.unload_ns;
  }
  return since;
}

/// False: what was there before went unnoticed, and the cache may have rules of it.
bool ModuleLog::add(const Described& module, uint64_t code) {
  const uint64_t time_ns = monotonic_ns();
  const ElfImage& image = module.image;
  auto path_size = uint32_t(strnlen(module.path, sizeof path_ - 1)) + 1;
  uint32_t ranges_size = image.code_count * uint32_t(sizeof(CodeRange));
  uint32_t size = uint32_t(sizeof(format::ModuleLoadRecord)) + ranges_size + image.build_id_size + path_size;
  size = format::round_up(size, 8);
  bool retired = false;
  uint64_t since = retire_overlapping(image.start, image.end, time_ns, retired);
  uint8_t* out = known_count_ < kSlots / 2 ? reserve(size, time_ns) : nullptr;
  if (!out) {
    count(*counters_, format::Counter::kModulesLost);
    return !retired;
  }
  format::ModuleLoadRecord record{};
  record.header = {uint16_t(size), uint8_t(format::RecordKind::kModuleLoad), 0};
  record.module = next_module_++;
  record.time_ns = since;
  record.bias = module.bias;
  record.start = image.start;
  record.end = image.end;
  record.range_count = image.code_count;
  record.build_id_size = uint16_t(image.build_id_size);
  uint8_t* at =
      put(put(put(out, &record, 1), image.code, image.code_count), image.build_id, image.build_id_size);
  std::memcpy(at, module.path, path_size - 1);
  std::memset(at + path_size - 1, 0, size_t(out + size - (at + path_size - 1)));
  chunk_.commit(size);
  remember(module, code, record.module);
  return !retired;
}

void ModuleLog::remember(const Described& described, uint64_t code, uint32_t module) {
  auto taken = [this](uint32_t slot) {
    const link_map* key = known_[slot].map.load(std::memory_order_relaxed);
    return key && key != tombstone();
  };
  uint32_t slot = slot_of(described.map);
  while (taken(slot)) slot = (slot + 1) % kSlots;
  if (!known_[slot].map.load(std::memory_order_relaxed)) taken_[taken_count_++] = uint16_t(slot);
  known_[slot].start = described.image.start;
  known_[slot].end = described.image.end;
  known_[slot].frames = described.frames;
  known_[slot].has_tables = described.has_tables;
  known_[slot].code = code;
  known_[slot].module = module;
  known_[slot].unload_ns = 0;
  known_[slot].map.store(described.map, std::memory_order_release);
  ++known_count_;
}

void ModuleLog::unload(Known& known, uint64_t time_ns) {
  known.map.store(tombstone(), std::memory_order_release);
  known.unload_ns = time_ns;
  --known_count_;
  constexpr uint32_t kSize = sizeof(format::ModuleUnloadRecord);
  uint8_t* out = reserve(kSize, time_ns);
  if (!out) {
    count(*counters_, format::Counter::kModulesLost);
    return;
  }
  format::ModuleUnloadRecord record{
      {kSize, uint8_t(format::RecordKind::kModuleUnload), 0}, known.module, time_ns};
  std::memcpy(out, &record, kSize);
  chunk_.commit(kSize);
}

void ModuleLog::note_unloads(uint64_t time_ns) {
  lock_.lock();
  for (uint32_t i = 0; i < taken_count_; ++i) {
    Known& known = known_[taken_[i]];
    const link_map* map = known.map.load(std::memory_order_relaxed);
    if (map == tombstone()) continue;
    dl_find_object found{};
    const bool there = find_object(known.code, found) && found.dlfo_link_map == map;
    if (there && found.dlfo_eh_frame == known.frames) continue;
    unload(known, time_ns);
  }
  lock_.unlock();
}

}  // namespace varve::agent
