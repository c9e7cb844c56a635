// SPDX-License-Identifier: MIT
// See java_layout.h. The tables have been the same since JDK 6; names in them change now and then, so where
// JDK 8 to 25 differ, each name is asked for. Context: any thread of the target; not signal.
#include "agent/java_layout.h"

#include <dlfcn.h>

#include <cstring>

#include "agent/hooks.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/loaded_object.h"

namespace varve::agent {
namespace {

template <typename Value>
Value load(uint64_t address) {
  Value value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

/// A table of HotSpot: its first entry, and where the parts of each entry are.
class Tables {
 public:
  explicit Tables(void* library) : library_(library) {}

  bool read() {
    return number("gHotSpotVMStructs", &structs_) && number("gHotSpotVMStructEntryArrayStride", &stride_) &&
           number("gHotSpotVMStructEntryTypeNameOffset", &type_name_) &&
           number("gHotSpotVMStructEntryFieldNameOffset", &field_name_) &&
           number("gHotSpotVMStructEntryTypeStringOffset", &type_string_) &&
           number("gHotSpotVMStructEntryIsStaticOffset", &is_static_) &&
           number("gHotSpotVMStructEntryOffsetOffset", &offset_) &&
           number("gHotSpotVMStructEntryAddressOffset", &address_) && number("gHotSpotVMTypes", &types_) &&
           number("gHotSpotVMTypeEntryArrayStride", &type_stride_) &&
           number("gHotSpotVMTypeEntryTypeNameOffset", &type_entry_name_) &&
           number("gHotSpotVMTypeEntrySizeOffset", &type_size_) && structs_ && types_ && stride_ &&
           type_stride_;
  }

  JavaField field(const char* type, const char* name) const {
    const uint64_t entry = find(type, name);
    if (!entry || load<int32_t>(entry + is_static_)) return {};
    const auto offset = load<uint64_t>(entry + offset_);
    return {uint32_t(offset), bytes_of(load<const char*>(entry + type_string_))};
  }

  /// Where a static field is; 0: nowhere.
  uint64_t global(const char* type, const char* name) const {
    const uint64_t entry = find(type, name);
    return entry && load<int32_t>(entry + is_static_) ? load<uint64_t>(entry + address_) : 0;
  }

  uint64_t size(const char* type) const {
    uint64_t entry = types_;
    for (unsigned i = 0; i < kMostEntries; ++i, entry += type_stride_) {
      const char* name = load<const char*>(entry + type_entry_name_);
      if (!name) break;
      if (strcmp(name, type) == 0) return load<uint64_t>(entry + type_size_);
    }
    return 0;
  }

 private:
  static constexpr unsigned kMostEntries = 1 << 16;  // JDK 25 has 1200

  bool number(const char* symbol, uint64_t* value) const {
    void* at = dlsym(library_, symbol);
    if (at) *value = load<uint64_t>(uint64_t(at));
    return at;
  }

  uint64_t find(const char* type, const char* field) const {
    uint64_t entry = structs_;
    for (unsigned i = 0; i < kMostEntries; ++i, entry += stride_) {
      const char* name = load<const char*>(entry + type_name_);
      if (!name) break;
      const char* of = load<const char*>(entry + field_name_);
      if (of && strcmp(of, field) == 0 && strcmp(name, type) == 0) return entry;
    }
    return 0;
  }

  static uint32_t bytes_of(const char* type) {
    struct Width {
      const char* type;
      uint32_t bytes;
    };
    static constexpr Width kWidths[] = {{"bool", 1},     {"u1", 1},  {"int16_t", 2}, {"u2", 2},
                                        {"uint16_t", 2}, {"int", 4}, {"int32_t", 4}, {"uint32_t", 4}};
    for (const Width& width : kWidths)
      if (type && strcmp(type, width.type) == 0) return width.bytes;
    return 8;
  }

  void* library_;
  uint64_t structs_ = 0, stride_ = 0, type_name_ = 0, field_name_ = 0, type_string_ = 0, is_static_ = 0,
           offset_ = 0, address_ = 0;
  uint64_t types_ = 0, type_stride_ = 0, type_entry_name_ = 0, type_size_ = 0;
};

bool usable(JavaField field) { return field.exists() && field.offset + field.bytes <= 256; }

bool read_blobs(const Tables& tables, JavaCodeMap& map) {
  map.block_header_bytes = uint32_t(tables.size("HeapBlock"));
  map.block_used = tables.field("HeapBlock::Header", "_used");
  map.blob_name = tables.field("CodeBlob", "_name");
  map.blob_size = tables.field("CodeBlob", "_size");
  map.blob_frame_words = tables.field("CodeBlob", "_frame_size");
  map.blob_frame_complete = tables.field("CodeBlob", "_frame_complete_offset");
  map.blob_code_begin = tables.field("CodeBlob", "_code_begin");
  map.blob_code_offset = tables.field("CodeBlob", "_code_offset");
  return map.block_header_bytes >= 8 && map.block_header_bytes <= 64 &&
         map.block_used.offset < map.block_header_bytes && usable(map.blob_name) && usable(map.blob_size) &&
         usable(map.blob_frame_words) && usable(map.blob_frame_complete) &&
         (usable(map.blob_code_begin) || usable(map.blob_code_offset));
}

/// Reads of HotSpot's objects ask first whether they can be read: nothing here has been seen before.
class Objects {
 public:
  uint64_t word(uint64_t address) {
    uint64_t value = 0;
    good_ = good_ && memory_.read(address, &value);
    return value;
  }
  bool good() const { return good_; }
  bool readable(uint64_t address) { return memory_.readable(address, 1); }
  StackMemory& memory() { return memory_; }

 private:
  StackMemory memory_{StackBounds{}};
  bool good_ = true;
};

class Heaps {
 public:
  explicit Heaps(const Tables& tables)
      : memory_(tables.field("CodeHeap", "_memory")),
        map_(tables.field("CodeHeap", "_segmap")),
        log2_(tables.field("CodeHeap", "_log2_segment_size")),
        low_(tables.field("VirtualSpace", "_low")),
        high_(tables.field("VirtualSpace", "_high")),
        limit_(tables.field("VirtualSpace", "_high_boundary")) {}

  bool usable() const {
    return memory_.exists() && map_.exists() && log2_.exists() && low_.exists() && high_.exists() &&
           limit_.exists();
  }

  bool add(uint64_t heap, JavaCodeMap& map) {
    if (map.heap_count == JavaCodeMap::kHeaps) return false;
    JavaCodeMap::Heap& to = map.heaps[map.heap_count];
    to.low = objects_.word(heap + memory_.offset + low_.offset);
    to.limit = objects_.word(heap + memory_.offset + limit_.offset);
    to.high_at = heap + memory_.offset + high_.offset;
    to.segment_map = objects_.word(heap + map_.offset + low_.offset);
    to.map_high_at = heap + map_.offset + high_.offset;
    to.log2_segment = uint32_t(objects_.word(heap + log2_.offset));
    to.high = to.low;
    if (!objects_.good() || !plausible(to)) return false;
    ++map.heap_count;
    return map.contains(to.low, objects_.memory()) && objects_.readable(to.low) &&
           objects_.readable(to.high - 1) && objects_.readable(to.segment_map) &&
           objects_.readable(to.segment_map + ((to.high - 1 - to.low) >> to.log2_segment));
  }

  Objects& objects() { return objects_; }

 private:
  static bool plausible(const JavaCodeMap::Heap& heap) {
    constexpr uint64_t kMostCode = uint64_t{1} << 32;  // HotSpot's own limit is 2 GB
    return heap.low != 0 && heap.low < heap.limit && heap.limit - heap.low <= kMostCode &&
           heap.log2_segment >= 3 && heap.log2_segment <= 16;
  }

  JavaField memory_, map_, log2_, low_, high_, limit_;
  Objects objects_;
};

enum class Learned { kYes, kNotYet, kNever };

/// CodeCache::_heaps, a GrowableArray<CodeHeap*>*; a CodeHeap* alone up to JDK 8.
Learned read_heaps(const Tables& tables, JavaCodeMap& map) {
  Heaps heaps(tables);
  if (!heaps.usable()) return Learned::kNever;
  Objects& objects = heaps.objects();
  if (const uint64_t one = tables.global("CodeCache", "_heap")) {
    const uint64_t heap = objects.word(one);
    if (heap == 0) return Learned::kNotYet;
    return heaps.add(heap, map) ? Learned::kYes : Learned::kNever;
  }
  const uint64_t at = tables.global("CodeCache", "_heaps");
  JavaField length = tables.field("GrowableArrayBase", "_len");
  if (!length.exists()) length = tables.field("GenericGrowableArray", "_len");
  const JavaField data = tables.field("GrowableArray<int>", "_data");
  if (!at || !length.exists() || !data.exists()) return Learned::kNever;
  const uint64_t array = objects.word(at);
  if (array == 0) return Learned::kNotYet;
  const auto count = uint32_t(objects.word(array + length.offset));
  const uint64_t elements = objects.word(array + data.offset);
  if (count == 0) return Learned::kNotYet;
  for (uint32_t i = 0; i < count; ++i)
    if (!heaps.add(objects.word(elements + uint64_t{i} * 8), map)) return Learned::kNever;
  return Learned::kYes;
}

Learned read_layout(const char* path, JavaCodeMap& map) {
  void* library = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
  if (!library) return Learned::kNever;
  Tables tables(library);
  map.heap_count = 0;
  Learned learned = Learned::kNever;
  if (tables.read() && read_blobs(tables, map)) learned = read_heaps(tables, map);
  close_library(library);
  return learned;
}

bool is_hotspot(const char* path) {
  constexpr char kName[] = "/libjvm.so";
  const size_t length = strlen(path);
  return length >= sizeof kName - 1 && strcmp(path + length - (sizeof kName - 1), kName) == 0;
}

enum class State : uint32_t { kUnknown, kBusy, kDone };
constinit std::atomic<State> state{State::kUnknown};
constinit JavaCodeMap code_map;

}  // namespace

void learn_java_layout(uint64_t caller) {
  dl_find_object found{};
  if (state.load(std::memory_order_relaxed) != State::kUnknown || !find_object(caller, found)) return;
  const char* path = found.dlfo_link_map ? found.dlfo_link_map->l_name : nullptr;
  State expected = State::kUnknown;
  if (!path || !is_hotspot(path) || !state.compare_exchange_strong(expected, State::kBusy)) return;
  const Learned learned = read_layout(path, code_map);
  if (learned == Learned::kYes) agent_state.java.store(&code_map, std::memory_order_release);
  state.store(learned == Learned::kNotYet ? State::kUnknown : State::kDone, std::memory_order_release);
}

}  // namespace varve::agent
