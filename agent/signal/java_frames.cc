// SPDX-License-Identifier: MIT
// See java_frames.h. Three kinds of code: compiled methods and runtime stubs have frames of a known size, the
// interpreter has rbp frames, and hand-written stubs without a size have rbp frames or none at all. A leaf
// may stand where its frame is half made; the instructions that make and unmake frames are few.
// Context: signal.
#include "agent/signal/java_frames.h"

#include <cstring>

#include "agent/signal/code_bytes.h"

namespace varve::agent {
namespace {

constexpr uint64_t kWord = 8;
constexpr uint8_t kPushRbp = 0x55, kPopRbp = 0x5d, kRet = 0xc3;

/// Only for addresses in the committed part of a code heap.
template <typename Number>
Number load(uint64_t address) {
  Number number;
  std::memcpy(&number, reinterpret_cast<const void*>(address), sizeof number);
  return number;
}

int64_t load_field(uint64_t object, JavaField field) {
  const uint64_t at = object + field.offset;
  switch (field.bytes) {
    case 1:
      return load<uint8_t>(at);
    case 2:
      return load<int16_t>(at);
    case 4:
      return load<int32_t>(at);
    default:
      return load<int64_t>(at);
  }
}

void look_again(JavaCodeMap::Heap& heap, StackMemory& memory) {
  uint64_t high, map_high;
  if (!memory.read(heap.high_at, &high) || !memory.read(heap.map_high_at, &map_high)) return;
  if (high < heap.low || high > heap.limit || map_high < heap.segment_map) return;
  const uint64_t mapped = heap.low + ((map_high - heap.segment_map) << heap.log2_segment);
  heap.high.store(high < mapped ? high : mapped, std::memory_order_relaxed);
}

struct Blob {
  uint64_t code, end;
  int64_t frame_words;
  int64_t frame_complete;  // from here on a leaf has its frame; negative: nowhere
  bool interpreter;
};

/// The block that holds `pc`: a byte of the segment map is how far to go back for an earlier segment of the
/// same block, 0 in its first, 255 where nothing is.
uint64_t find_block(const JavaCodeMap::Heap& heap, uint64_t pc) {
  constexpr uint8_t kFree = 255;
  constexpr unsigned kSteps = 4096;
  uint64_t segment = (pc - heap.low) >> heap.log2_segment;
  for (unsigned i = 0; i < kSteps; ++i) {
    const auto back = load<uint8_t>(heap.segment_map + segment);
    if (back == 0) return heap.low + (segment << heap.log2_segment);
    if (back == kFree || back > segment) return 0;
    segment -= back;
  }
  return 0;
}

bool is_interpreter(const JavaCodeMap& map, StackMemory& memory, uint64_t blob) {
  constexpr uint64_t kInterpre = 0x6572707265746e49;  // the first 8 bytes of its name, "Interpreter"
  uint64_t name;
  return memory.read(uint64_t(load_field(blob, map.blob_name)), &name) && name == kInterpre;
}

bool find_blob(JavaCodeMap& map, StackMemory& memory, uint64_t pc, Blob* found) {
  constexpr uint64_t kLongestHeader = 256;  // of fields that are read; java_layout.cc sees to that
  constexpr int64_t kMostWords = 1 << 17;
  JavaCodeMap::Heap* heap = map.find(pc, memory);
  if (!heap) return false;
  const uint64_t high = heap->high.load(std::memory_order_relaxed);
  const uint64_t block = find_block(*heap, pc);
  if (block == 0 || block + map.block_header_bytes + kLongestHeader > high) return false;
  const uint64_t blob = block + map.block_header_bytes;
  const uint64_t end = blob + uint64_t(load_field(blob, map.blob_size));
  const uint64_t code = map.blob_code_begin.exists()
                            ? uint64_t(load_field(blob, map.blob_code_begin))
                            : blob + uint64_t(load_field(blob, map.blob_code_offset));
  const int64_t words = load_field(blob, map.blob_frame_words);
  if (load_field(block, map.block_used) != 1 || end > high || code < blob || code > pc || pc >= end ||
      words < 0 || words > kMostWords)
    return false;
  *found = {code, end, words, load_field(blob, map.blob_frame_complete), false};
  if (words == 0 && is_interpreter(map, memory, blob)) {
    found->interpreter = true;
    map.interpreter_low.store(code, std::memory_order_relaxed);
    map.interpreter_high.store(end, std::memory_order_relaxed);
  }
  return true;
}

enum class Stage : uint8_t {
  kUnknown,
  kBare,    // the return address is on top of the stack, rbp is the caller's
  kPushed,  // rbp is on top of the stack, the return address above it
  kMade,    // the frame is whole, but rbp is not stored yet
  kWhole,
};

/// What compilers put between the end of a frame and its return: JDK 8 to 25 ask in different ways whether a
/// safepoint is wanted. Longest 7 bytes.
struct Instruction {
  uint8_t bytes[3], fixed, length;
};
constexpr Instruction kBeforeReturn[] = {
    {{0x49, 0x3b, 0x67}, 3, 4},  // cmp disp8(%r15),%rsp
    {{0x49, 0x3b, 0xa7}, 3, 7},  // cmp disp32(%r15),%rsp
    {{0x0f, 0x87, 0}, 2, 6},     // ja rel32
    {{0x4d, 0x8b, 0x57}, 3, 4},  // mov disp8(%r15),%r10
    {{0x4d, 0x8b, 0x97}, 3, 7},  // mov disp32(%r15),%r10
    {{0x41, 0x85, 0x02}, 3, 3},  // test %eax,(%r10)
    {{0x85, 0x05, 0}, 2, 6},     // test %eax,disp32(%rip)
    {{0xc5, 0xf8, 0x77}, 3, 3},  // vzeroupper
};
constexpr uint64_t kEpilogueBytes = 32;  // the most that is looked at

const Instruction* before_return(const uint8_t* code) {
  for (const Instruction& known : kBeforeReturn)
    if (code[0] == known.bytes[0] && code[1] == known.bytes[1] &&
        (known.fixed < 3 || code[2] == known.bytes[2]))
      return &known;
  return nullptr;
}

Stage epilogue_stage(const uint8_t* code) {
  const Stage stage = *code == kPopRbp ? Stage::kPushed : Stage::kBare;
  if (stage == Stage::kPushed) ++code;
  for (unsigned i = 0; i < 4; ++i) {
    if (*code == kRet) return stage;
    const Instruction* next = before_return(code);
    if (!next) break;
    code += next->length;
  }
  return Stage::kWhole;
}

/// Bytes that `sub $imm,%rsp` at `code` takes off; 0 where there is none.
uint64_t subtracted(const uint8_t* code, uint64_t* length) {
  if (code[0] != 0x48 || code[2] != 0xec || (code[1] != 0x83 && code[1] != 0x81)) return 0;
  *length = code[1] == 0x83 ? 4 : 7;
  uint32_t wide;
  std::memcpy(&wide, code + 3, sizeof wide);
  return code[1] == 0x83 ? code[3] : wide;
}

/// push %rbp; sub $(size - 16),%rsp, or sub $(size - 8),%rsp; mov %rbp,(size - 16)(%rsp); or with mov
/// %rsp,%rbp after the push. Other things stand around these.
Stage prologue_stage(const Blob& blob, uint64_t pc) {
  const uint64_t size = uint64_t(blob.frame_words) * kWord;
  for (uint64_t at = blob.code; at + 4 <= pc; ++at) {
    uint64_t length = 0;
    const uint64_t taken = subtracted(reinterpret_cast<const uint8_t*>(at), &length);
    if (taken == 0 || at + length > pc) continue;
    if (taken == size - 2 * kWord) return Stage::kWhole;
    if (taken == size - kWord) return at + length == pc ? Stage::kMade : Stage::kWhole;
  }
  if (pc >= blob.code + 1 && load<uint8_t>(pc - 1) == kPushRbp) return Stage::kPushed;
  if (pc >= blob.code + 4 && load<uint8_t>(pc - 4) == kPushRbp) {
    const auto move = load<uint32_t>(pc - 4) >> 8;
    if (move == 0xe58948 || move == 0xec8b48) return Stage::kPushed;
  }
  return Stage::kBare;
}

/// The stage of a leaf of a compiled method.
Stage leaf_stage(const Blob& blob, uint64_t pc) {
  constexpr int64_t kLongestPrologue = 512;
  if (pc + kEpilogueBytes > blob.end || blob.frame_complete < 0) return Stage::kUnknown;
  if (pc >= blob.code + uint64_t(blob.frame_complete))
    return epilogue_stage(reinterpret_cast<const uint8_t*>(pc));
  return blob.frame_complete <= kLongestPrologue ? prologue_stage(blob, pc) : Stage::kUnknown;
}

class Step {
 public:
  Step(JavaCodeMap& map, FindObject find_object, StackMemory& memory, const JavaRegisters& at)
      : map_(map), find_object_(find_object), memory_(memory), at_(at) {}

  bool run(JavaCaller* caller) {
    const uint64_t in = at_.exact ? at_.pc : at_.pc - 1;
    const uint64_t low = map_.interpreter_low.load(std::memory_order_relaxed);
    const uint64_t high = map_.interpreter_high.load(std::memory_order_relaxed);
    Blob blob{low, high, 0, -1, true};
    if ((in < low || in >= high) && !find_blob(map_, memory_, in, &blob)) return false;
    if (blob.interpreter) return leaves_bare(blob, caller) || leaves_interpreter(caller);
    if (blob.frame_words == 0) return at_.exact && leaves_stub(blob, caller);
    if (!at_.exact) return leaves_whole(blob, caller);
    return leaves_leaf(blob, caller);
  }

 private:
  bool is_code(uint64_t return_address) const {
    ObjectFrameInfo object;
    return return_address != 0 && (map_.contains(return_address - 1, memory_) ||
                                   (find_object_ && find_object_(return_address - 1, &object)));
  }

  /// The return address is at `slot`, the stack pointer of the caller above it.
  bool leaves(uint64_t slot, uint64_t rbp, bool knows_rbp, JavaCaller* caller) const {
    uint64_t return_address;
    if (slot < at_.sp || !memory_.read(slot, &return_address) || !is_code(return_address)) return false;
    *caller = {return_address, slot + kWord, rbp, knows_rbp};
    return true;
  }

  /// The same, with the caller's rbp below it.
  bool leaves_saved(uint64_t slot, JavaCaller* caller) const {
    uint64_t rbp;
    return memory_.read(slot - kWord, &rbp) && leaves(slot, rbp, true, caller);
  }

  /// Around calls of some stubs, compiled code moves the stack pointer by a word or two.
  bool leaves_whole(const Blob& blob, JavaCaller* caller) const {
    constexpr int64_t kMoved = 2;
    for (int64_t moved = 0; moved <= kMoved; ++moved)
      if (leaves_saved(at_.sp + uint64_t(blob.frame_words - 1 + moved) * kWord, caller)) return true;
    return false;
  }

  bool leaves_leaf(const Blob& blob, JavaCaller* caller) const {
    return leaves_at_stage(leaf_stage(blob, at_.pc), blob, caller) || leaves_stub(blob, caller) ||
           leaves_whole(blob, caller);
  }

  bool leaves_at_stage(Stage stage, const Blob& blob, JavaCaller* caller) const {
    switch (stage) {
      case Stage::kBare:
        return leaves(at_.sp, at_.rbp, at_.knows_rbp, caller);
      case Stage::kPushed:
        return leaves_saved(at_.sp + kWord, caller);
      case Stage::kMade:
        return leaves(at_.sp + uint64_t(blob.frame_words - 1) * kWord, at_.rbp, at_.knows_rbp, caller);
      case Stage::kWhole:
        return leaves_whole(blob, caller);
      case Stage::kUnknown:
        break;
    }
    return false;
  }

  /// Code with frame pointers, before it has one and at its return.
  bool leaves_bare(const Blob& blob, JavaCaller* caller) const {
    uint8_t code[4];
    if (!at_.exact || at_.pc + sizeof code > blob.end) return false;
    std::memcpy(code, reinterpret_cast<const void*>(at_.pc), sizeof code);
    const LeafState state = leaf_state(code);
    if (state == LeafState::kBody) return false;
    if (state == LeafState::kPushed) return leaves_saved(at_.sp + kWord, caller);
    return leaves(at_.sp, at_.rbp, at_.knows_rbp, caller);
  }

  /// A stub has an rbp frame, or none: then it may have pushed a few registers.
  bool leaves_stub(const Blob& blob, JavaCaller* caller) const {
    constexpr uint64_t kNear = 1024, kPushed = 7;
    if (leaves_bare(blob, caller)) return true;
    if (returns_from(at_.sp)) return leaves(at_.sp, at_.rbp, at_.knows_rbp, caller);
    const bool may_be_frame =
        at_.knows_rbp && at_.rbp >= at_.sp && at_.rbp - at_.sp <= kNear && at_.rbp % kWord == 0;
    for (uint64_t slot = at_.sp; slot <= at_.sp + kPushed * kWord; slot += kWord) {
      if (may_be_frame && slot == at_.rbp + kWord) break;
      if (called_from(slot, blob)) return leaves(slot, at_.rbp, at_.knows_rbp, caller);
    }
    if (may_be_frame && leaves_saved(at_.rbp + kWord, caller)) return true;
    return leaves(at_.sp, at_.rbp, at_.knows_rbp, caller);
  }

  /// Whether `slot` holds a return address into HotSpot's code: into the interpreter, or behind a call.
  bool returns_from(uint64_t slot) const {
    uint64_t to;
    if (!memory_.read(slot, &to) || !map_.contains(to - 7, memory_) || !map_.contains(to, memory_))
      return false;
    uint8_t before[7];
    std::memcpy(before, reinterpret_cast<const void*>(to - sizeof before), sizeof before);
    return ends_with_call(before) || (to >= map_.interpreter_low.load(std::memory_order_relaxed) &&
                                      to < map_.interpreter_high.load(std::memory_order_relaxed));
  }

  /// Whether `slot` holds the return address of a direct call (E8) of this blob, in a code heap.
  bool called_from(uint64_t slot, const Blob& blob) const {
    uint64_t to;
    if (!memory_.read(slot, &to) || !map_.contains(to - 5, memory_) || !map_.contains(to, memory_) ||
        load<uint8_t>(to - 5) != 0xe8)
      return false;
    const uint64_t target = to + uint64_t(int64_t{load<int32_t>(to - 4)});
    return target >= blob.code && target < blob.end;
  }

  /// Below the saved rbp is what the stack pointer of the caller was before room was made for arguments.
  bool leaves_interpreter(JavaCaller* caller) const {
    if (!at_.knows_rbp || at_.rbp % kWord != 0 || !leaves_saved(at_.rbp + kWord, caller)) return false;
    uint64_t sender;
    if (memory_.read(at_.rbp - kWord, &sender) && sender > caller->sp && sender % kWord == 0 &&
        memory_.own().contains(sender) && memory_.own().contains(at_.sp))
      caller->sp = sender;
    return true;
  }

  JavaCodeMap& map_;
  FindObject find_object_;
  StackMemory& memory_;
  const JavaRegisters& at_;
};

}  // namespace

JavaCodeMap::Heap* JavaCodeMap::find(uint64_t pc, StackMemory& memory) {
  for (Heap* heap = heaps; heap != heaps + heap_count; ++heap) {
    if (pc < heap->low || pc >= heap->limit) continue;
    if (pc >= heap->high.load(std::memory_order_relaxed)) look_again(*heap, memory);
    return pc < heap->high.load(std::memory_order_relaxed) ? heap : nullptr;
  }
  return nullptr;
}

bool java_caller(JavaCodeMap& map, FindObject find_object, StackMemory& memory, const JavaRegisters& at,
                 JavaCaller* caller) {
  return Step(map, find_object, memory, at).run(caller);
}

}  // namespace varve::agent
