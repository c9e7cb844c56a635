// SPDX-License-Identifier: MIT
// One sample chunk, decoded: times, weights and, of each stack, the part that differs from the stack before,
// its addresses already turned into code sites. Waits, releases and creations are rows among the samples.
// Chunks decode independently, so several decoders work at once. Not the tree of paths: path_tree.h puts the
// decoded chunks together, in their order. Context: viewer, one decoder a thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/frame_predictor.h"
#include "common/wait_format.h"
#include "viewer/load/agent_file.h"
#include "viewer/load/chunk_reader.h"
#include "viewer/load/intern_table.h"
#include "viewer/load/mapping_index.h"
#include "viewer/load/zeroed_array.h"

namespace varve::load {

/// An address in a module's own terms, before modules without a file have rows.
struct CodeSite {
  uint64_t vaddr = 0;
  uint32_t module = 0;   // row of Profile::modules, kAnonymous (code of no file) or kSpecial
  uint32_t process = 0;  // whose anonymous module; 0 in a module with a file
  static constexpr uint32_t kAnonymous = UINT32_MAX;
  static constexpr uint32_t kSpecial = UINT32_MAX - 1;  // `vaddr` is a SpecialSite
  constexpr bool operator==(const CodeSite&) const = default;
};
inline uint64_t hash_of(const CodeSite& site) {
  return secret_hash(site.vaddr, uint64_t(site.module) << 32 | site.process);
}

struct DecodedSample {
  uint64_t time_ns = 0;
  uint64_t weight_ns = 0;
  uint16_t shared = 0;  // frames from the root that are those of the sample before in this chunk
  uint16_t fresh = 0;   // frames that follow, from DecodedChunk::frames
  format::StackEnd end = format::StackEnd::kRoot;
  bool is_event = false;  // no sample, but the next of DecodedChunk::events
};

/// A wait, a release or a creation.
struct DecodedEvent {
  format::RecordKind record = format::RecordKind::kWaitEvent;
  format::ObjectKind kind = format::ObjectKind::kNone;
  uint32_t count = 0;
  uint64_t time_ns = 0, object = 0, duration_ns = 0;
  bool timed_out = false;  // of a wait
};

struct DecodedChunk {
  struct Run {
    uint32_t thread;  // index within the file
    uint32_t first;   // row of `samples`
  };
  unsigned decoder = 0;   // whose numbers `frames` holds
  uint32_t process = 0;   // row of Profile::processes
  uint32_t bytes = 0;     // of its records
  std::vector<Run> runs;  // by first row
  std::vector<DecodedSample> samples;
  std::vector<DecodedEvent> events;
  std::vector<uint32_t> frames;     // the decoder's numbers of sites, from the root side to the leaf
  std::vector<CodeSite> new_sites;  // those the decoder met first in this chunk; their numbers follow on
  std::vector<Damage> damages;
};

/// Mappings of one process image and where its samples are.
struct SampleSource {
  const AgentFile* file;
  uint32_t process;
  uint32_t first_mapping, end_mapping;
};

class SampleDecoder {
 public:
  /// `decoder` numbers this decoder; `mappings` and `source` outlive it.
  SampleDecoder(unsigned decoder, std::span<const Mapping> mappings, const FileSource& source)
      : decoder_(decoder), mappings_(mappings), source_(source) {}

  /// Never fails: what cannot be read is in `damages`.
  DecodedChunk decode(const SampleSource& from, const Chunk& chunk);

 private:
  /// Times for which an answer holds. Nearly all answers of a file share one, so the cache holds their
  /// number.
  struct Window {
    uint64_t from, until;
    bool operator==(const Window&) const = default;
  };
  struct CachedSite {
    uint64_t address;
    uint32_t site;
    uint32_t window;  // number; below first_window_: of a file before this one
  };
  /// 1 MB: as many slots as a large program has call sites that occur. A miss costs five times a hit, so an
  /// address has two slots, in one cache line.
  static constexpr unsigned kCacheBits = 16;
  static constexpr size_t kMostWindows = 1 << 16;
  static constexpr size_t kRepeatsPerByte = 32;  // of a chunk; a sample takes 50

  bool enter(const SampleSource& from, DecodedChunk& out, const Chunk& chunk);
  void decode_records(const Chunk& chunk, ByteView records, DecodedChunk& out);
  void decode_record(ByteView record, DecodedChunk& out);
  void decode_sample(ByteView record, uint8_t flags, DecodedChunk& out);
  void decode_event(ByteView record, format::RecordKind of, uint8_t flags, DecodedChunk& out);
  uint64_t decode_time(ByteView& record, DecodedSample& sample) const;
  void decode_stack(ByteView& record, uint8_t flags, DecodedSample& sample, DecodedChunk& out);
  void decode_frames(ByteView& record, DecodedSample& sample, DecodedChunk& out);
  void clear_stack() { cut_stack(0), until_.clear(), predictor_.forget(), last_object_ = 0; }
  void cut_stack(size_t depth);
  void count_repeats(size_t frames);
  void keep_frames(size_t shared, DecodedSample& sample, DecodedChunk& out);
  uint64_t read_frames(ByteView& record, uint64_t most, uint64_t time_ns, DecodedChunk& out);
  uint64_t frame_at(uint64_t place) const;
  void push_frame(uint64_t address, uint64_t time_ns, DecodedChunk& out);
  void forget_cached();
  uint32_t number_window(Window window);
  const CachedSite& site_at(uint64_t address, uint64_t time_ns, DecodedChunk& out);
  bool holds(const CachedSite& cached, uint64_t address, uint64_t time_ns) const;
  CachedSite look_up(uint64_t address, uint64_t time_ns, DecodedChunk& out);
  const Window& window_of(const CachedSite& cached) const { return windows_[cached.window - first_window_]; }

  const unsigned decoder_;
  const std::span<const Mapping> mappings_;
  const FileSource& source_;

  // Of the file the last chunk was from.
  const AgentFile* file_ = nullptr;
  uint32_t process_ = 0;
  std::unique_ptr<File> open_file_;
  std::unique_ptr<MappingIndex> index_;
  ZeroedArray<CachedSite> cache_;  // by address; the later of two with the same slots comes first
  std::vector<Window> windows_;    // their numbers begin with first_window_
  uint32_t first_window_ = 1;

  InternTable<CodeSite> site_table_;
  std::vector<CodeSite> sites_;  // by this decoder's numbers
  std::vector<uint8_t> buffer_;
  std::vector<uint64_t> stack_;  // addresses of the last stack, from the root
  std::vector<uint64_t>
      until_;            // beside it: when this frame or one nearer to the root begins to mean another module
  size_t left_out_ = 0;  // place of kFramesLeftOut in the stack, which is not the first; 0: none
  FramePredictor predictor_{};
  uint64_t last_object_ = 0;
  uint64_t time_ns_ = 0;
  format::StackEnd last_end_ = format::StackEnd::kRoot;  // of the last sample
  size_t repeats_left_ = 0;                              // shared frames of this chunk that may be told anew
};

}  // namespace varve::load
