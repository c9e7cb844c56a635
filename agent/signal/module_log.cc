// SPDX-License-Identifier: MIT
// See module_log.h.
// Context: signal, agent start, dlclose hook.
#include "agent/signal/module_log.h"

#include <cstring>

#include "agent/signal/clock.h"
#include "agent/signal/elf_image.h"
#include "agent/signal/loaded_object.h"

namespace varve::agent {
namespace {

constexpr uint32_t kFirstChunkBytes = 512;  // holds the three or four modules of most programs' stacks
constexpr uint32_t kLargestChunkBytes = 16384;
constexpr uint32_t kMaxPath = 4096;

const link_map* tombstone() { return reinterpret_cast<const link_map*>(uintptr_t{1}); }

uint32_t slot_of(const link_map* map) { return uint32_t(uintptr_t(map) >> 4) * 0x9E3779B1u >> 21; }
static_assert(1u << (32 - 21) == 2048, "slot_of() yields an index below ModuleLog::kSlots");

bool is_program(const link_map& map) { return !map.l_name || !*map.l_name; }

/// The vDSO's link map has a file name, but there is no such file.
const char* display_path(const link_map& map, const char* program) {
  if (is_program(map)) return program;
  return std::strcmp(map.l_name, "linux-vdso.so.1") ? map.l_name : "[vdso]";
}

template <typename T>
uint8_t* put(uint8_t* out, const T* data, uint32_t count) {
  if (count) std::memcpy(out, data, sizeof(T) * count);  // without a build id `data` is null
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

ModuleLog::Known* ModuleLog::find(const link_map* map, uint64_t start) {
  for (uint32_t slot = slot_of(map), i = 0; i < kSlots; ++i, slot = (slot + 1) % kSlots) {
    const link_map* key = known_[slot].map.load(std::memory_order_acquire);
    if (!key) return nullptr;
    if (key == map && start >= known_[slot].start && start < known_[slot].end) return &known_[slot];
  }
  return nullptr;
}

bool ModuleLog::note(const dl_find_object& found) {
  if (find(found.dlfo_link_map, uint64_t(found.dlfo_map_start))) return true;
  SpinGuard guard(lock_);
  if (!guard.owns()) return false;
  if (find(found.dlfo_link_map, uint64_t(found.dlfo_map_start))) return true;
  const ElfImage image = describe(found);
  add(found.dlfo_link_map, image, found.dlfo_link_map->l_addr, image.code[0].begin);
  return true;
}

bool ModuleLog::note_copy(const dl_find_object& found, CodeRange copy, uint64_t origin) {
  SpinGuard guard(lock_);
  if (!guard.owns()) return false;
  if (find(found.dlfo_link_map, copy.begin)) return true;
  ElfImage image = describe(found);
  image.start = copy.begin;
  image.end = copy.end;
  image.code[0] = copy;
  image.code_count = 1;
  add(found.dlfo_link_map, image, found.dlfo_link_map->l_addr + (copy.begin - origin), origin);
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
ElfImage ModuleLog::describe(const dl_find_object& found) const {
  ElfImage image;
  auto begin = uint64_t(found.dlfo_map_start), end = uint64_t(found.dlfo_map_end);
  uint32_t count = program_.header_count;
  const Elf64_Phdr* headers = program_.headers;
  if (!is_program(*found.dlfo_link_map))
    headers = mapped_program_headers(found.dlfo_map_start, end - begin, count);
  if (headers) read_program_headers(headers, count, found.dlfo_link_map->l_addr, image);
  if (!image.code_count) image = {begin, end, {{begin, end}}, 1, nullptr, 0};
  return image;
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
uint64_t ModuleLog::retire_overlapping(uint64_t start, uint64_t end, uint64_t time_ns) {
  uint64_t since = start_time_ns_;
  for (uint32_t i = 0; i < taken_count_; ++i) {
    Known& known = known_[taken_[i]];
    if (known.start >= end || known.end <= start) continue;
    if (known.map.load(std::memory_order_relaxed) != tombstone()) unload(known, time_ns);
    if (known.unload_ns > since) since = known.unload_ns;
  }
  return since;
}

void ModuleLog::add(const link_map* map, const ElfImage& image, uint64_t bias, uint64_t code) {
  const uint64_t time_ns = monotonic_ns();
  const char* path = display_path(*map, program_.path);
  auto path_size = uint32_t(strnlen(path, kMaxPath - 1)) + 1;
  uint32_t ranges_size = image.code_count * uint32_t(sizeof(CodeRange));
  uint32_t size = uint32_t(sizeof(format::ModuleLoadRecord)) + ranges_size + image.build_id_size + path_size;
  size = format::round_up(size, 8);
  uint64_t since = retire_overlapping(image.start, image.end, time_ns);
  uint8_t* out = known_count_ < kSlots / 2 ? reserve(size, time_ns) : nullptr;
  if (!out) {
    count(*counters_, format::Counter::kModulesLost);
    return;
  }
  format::ModuleLoadRecord record{};
  record.header = {uint16_t(size), uint8_t(format::RecordKind::kModuleLoad), 0};
  record.module = next_module_++;
  record.time_ns = since;
  record.bias = bias;
  record.start = image.start;
  record.end = image.end;
  record.range_count = image.code_count;
  record.build_id_size = uint16_t(image.build_id_size);
  uint8_t* at =
      put(put(put(out, &record, 1), image.code, image.code_count), image.build_id, image.build_id_size);
  std::memcpy(at, path, path_size - 1);
  std::memset(at + path_size - 1, 0, size_t(out + size - (at + path_size - 1)));
  chunk_.commit(size);
  remember(map, image, code, record.module);
}

void ModuleLog::remember(const link_map* map, const ElfImage& image, uint64_t code, uint32_t module) {
  auto taken = [this](uint32_t slot) {
    const link_map* key = known_[slot].map.load(std::memory_order_relaxed);
    return key && key != tombstone();
  };
  uint32_t slot = slot_of(map);
  while (taken(slot)) slot = (slot + 1) % kSlots;
  if (!known_[slot].map.load(std::memory_order_relaxed)) taken_[taken_count_++] = uint16_t(slot);
  known_[slot].start = image.start;
  known_[slot].end = image.end;
  known_[slot].code = code;
  known_[slot].module = module;
  known_[slot].unload_ns = 0;
  known_[slot].map.store(map, std::memory_order_release);
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
    if (find_object(known.code, found) && found.dlfo_link_map == map) continue;
    unload(known, time_ns);
  }
  lock_.unlock();
}

}  // namespace varve::agent
