// SPDX-License-Identifier: MIT
// Records are read in their order, which is that of time but for damage. Where records were lost, what is
// known of a processor decides: a thread that switches in there ends the turn of the one believed to run
// there. Waits are looked up while switches are still in the kernel's rings, so they are put to their
// stretches when all events are there.
// Context: viewer.
#include "viewer/load/observer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "viewer/load/sweep_stretches.h"

namespace varve::load {
namespace {

using format::RecordHeader;
using format::RecordKind;

/// More tracks than this are made up: the kernel has no more thread ids at a time, and a track costs a
/// record.
constexpr uint32_t kMostTracks = 1 << 26;
/// Of time that one sweep may tell about: an hour.
constexpr uint64_t kLongestStretchNs = 3'600'000'000'000;

class ObserverReader {
 public:
  ObserverReader(const File& file, std::vector<Damage>& damages) : file_(file), damages_(damages) {}

  void read(const format::FileHeader& header, ObserverFile& result) {
    states_.begin = {header.start_monotonic_ns};
    const std::vector<Chunk> chunks = list_chunks(file_, format::kObserverFile, header, damages_);
    for (size_t i = 0; i < chunks.size() && follows(chunks[i], i) && read_chunk_of_states(chunks[i]); ++i)
      continue;
    sweeps_.append_events(states_.tracks, states_.events);
    settle();
    result.states = std::move(states_);
    result.looks = std::move(looks_);
  }

 private:
  /// What a thread did after a switch that is missing nobody knows: states end where the first chunk is
  /// missing, or damaged.
  bool follows(const Chunk& chunk, size_t count) {
    if (chunk.header.sequence == count) return true;
    damages_.push_back(
        {format::kObserverFile, fmt::format("has no chunk {}: run states end there", count), 0});
    return false;
  }

  /// Whether all of it could be read.
  bool read_chunk_of_states(const Chunk& chunk) {
    if (!chunk.is(format::ChunkType::kRunStates)) return true;
    const size_t damages = damages_.size();
    chunk_time_ = chunk.header.first_time_ns;
    read_records(file_, format::kObserverFile, chunk, damages_,
                 [this](RecordHeader record_header, ByteView record) { use(record_header, record); });
    const bool whole = damages_.size() == damages && chunk.readable == chunk.header.used;
    if (whole) last_time_ = std::max(last_time_, chunk.header.last_time_ns);
    return whole;
  }

  struct Wait {
    uint64_t time_ns;
    TrackId track;
    WaitKind kind;
  };

  void use(RecordHeader header, ByteView record) {
    static constexpr std::pair<RecordKind, void (ObserverReader::*)(RecordHeader, ByteView)> kReaders[] = {
        {RecordKind::kTrack, &ObserverReader::read_track},
        {RecordKind::kTrackEnd, &ObserverReader::read_track_end},
        {RecordKind::kSwitches, &ObserverReader::read_switches},
        {RecordKind::kSweep, &ObserverReader::read_sweep},
        {RecordKind::kWait, &ObserverReader::read_wait},
        {RecordKind::kSwitchesLost, &ObserverReader::read_lost},
        {RecordKind::kWaitModule, &ObserverReader::read_module},
        {RecordKind::kWaitStack, &ObserverReader::read_stack},
        {RecordKind::kWaitFile, &ObserverReader::read_file},
    };
    for (auto [kind, reader] : kReaders)
      if (header.kind == uint8_t(kind)) (this->*reader)(header, record);
  }

  TrackId known_track(uint64_t number) const {
    if (number >= states_.tracks.size()) throw ParseError("tells of a thread that it does not describe");
    return {uint32_t(number)};
  }

  void add(uint64_t time_ns, TrackId track, RunEvent event) {
    event.time_ns = time_ns;
    event.track = track;
    states_.events.push_back(event);
  }

  void read_track(RecordHeader header, ByteView record) {
    auto row = record.read<format::TrackRecord>();
    // Tracks are told in the order of their numbers, so that a number needs no memory beyond its record.
    if (row.track > states_.tracks.size() || row.track >= kMostTracks)
      throw ParseError("describes a thread out of turn");
    if (row.track == states_.tracks.size()) {
      states_.tracks.emplace_back();
      states_.tracks.back().start = {row.time_ns};
      states_.tracks.back().start_seen = header.flags & format::kTrackStartSeen;
      runs_on_.push_back(RunEvent::kNoProcessor);
      // A thread begins runnable. One that was there before it was seen is taken for blocked.
      add(row.time_ns, {row.track},
          {.ready = states_.tracks.back().start_seen ? RunEvent::kWhole : uint16_t(0)});
    }
    Track& track = states_.tracks[row.track];
    track.pid = row.pid;
    track.tid = row.tid;
    track.ppid = row.ppid;
    track.own_tid = row.own_tid;
    track.name.assign(row.name, strnlen(row.name, sizeof row.name));
  }

  void read_track_end(RecordHeader, ByteView record) {
    auto row = record.read<format::TrackEndRecord>();
    TrackId id = known_track(row.track);
    Track& track = states_.tracks[id.index()];
    track.end = {std::max(row.time_ns, track.start.count)};
    track.last_seen = {std::clamp(sweep_begin_, track.start.count, track.end.count)};
    if (states_.source != RunStates::Source::kSweeps) track.last_seen = track.end;
    track.voluntary_switches = row.voluntary_switches;
    track.involuntary_switches = row.involuntary_switches;
    add(track.end.count, id, {.ended = true});
  }

  void read_switches(RecordHeader, ByteView record) {
    states_.source = RunStates::Source::kSwitches;
    record.skip(sizeof(RecordHeader));
    while (!record.empty()) {
      uint64_t delta = record.read_varint();
      if (delta > UINT64_MAX - chunk_time_) throw ParseError("has a switch at an impossible time");
      chunk_time_ += delta;
      uint64_t what = record.read_varint();
      TrackId track = known_track(what >> 2);
      switch (format::SwitchKind(what & 3)) {
        case format::SwitchKind::kIn:
          switch_in(track, record.read_varint());
          break;
        case format::SwitchKind::kOutBlocked:
          switch_out(track, 0);
          break;
        case format::SwitchKind::kOutReady:
          switch_out(track, RunEvent::kWhole);
          break;
        default:
          throw ParseError("has a switch of an unknown kind");
      }
    }
  }

  void switch_in(TrackId track, uint64_t processor) {
    if (processor >= RunEvent::kMostProcessors)
      throw ParseError("has a switch on a processor that cannot be");
    if (processor >= turn_.size()) turn_.resize(processor + 1);
    TrackId before = turn_[processor];
    if (before.valid() && before != track && runs_on_[before.index()] == processor)
      switch_out(before, RunEvent::kWhole);  // its own record was lost
    turn_[processor] = track;
    runs_on_[track.index()] = uint16_t(processor);
    add(chunk_time_, track, {.running = RunEvent::kWhole, .processor = uint16_t(processor), .quanta = 1});
  }

  void switch_out(TrackId track, uint16_t ready) {
    runs_on_[track.index()] = RunEvent::kNoProcessor;
    add(chunk_time_, track, {.ready = ready});
  }

  void read_sweep(RecordHeader, ByteView record) {
    states_.source = RunStates::Source::kSweeps;
    record.skip(sizeof(RecordHeader));
    uint64_t begin = record.read_varint(), length = record.read_varint();
    if (begin > UINT64_MAX - chunk_time_ || length > kLongestStretchNs)
      throw ParseError("has a sweep at an impossible time");
    SweepStretches::Told told;
    told.begin_ns = chunk_time_ + begin;
    sweep_begin_ = told.begin_ns;
    told.length_ns = std::min(length, UINT64_MAX - told.begin_ns);
    last_time_ = std::max(last_time_, told.begin_ns + told.length_ns);
    while (!record.empty()) {
      TrackId track = known_track(record.read_varint());
      told.ran_ns = record.read_varint();
      told.ready_ns = record.read_varint();
      told.quanta = uint16_t(std::min<uint64_t>(record.read_varint(), UINT16_MAX));
      const uint64_t processor = record.read_varint();
      told.processor = processor < RunEvent::kMostProcessors ? uint16_t(processor) : RunEvent::kNoProcessor;
      sweeps_.add(track, told);
    }
  }

  void read_wait(RecordHeader header, ByteView record) {
    auto row = record.read<format::WaitRecord>();
    auto kind = header.flags < uint8_t(WaitKind::kCount) ? WaitKind(header.flags) : WaitKind::kOther;
    waits_.push_back({row.time_ns, known_track(row.track), kind});
  }

  void read_lost(RecordHeader, ByteView record) {
    auto row = record.read<format::SwitchesLostRecord>();
    states_.lost += std::min(row.count, UINT64_MAX - states_.lost);
  }

  void read_module(RecordHeader, ByteView record) { looks_.add_module(record); }
  void read_file(RecordHeader, ByteView record) { looks_.add_file(record, states_.tracks); }
  void read_stack(RecordHeader header, ByteView record) { looks_.add_look(header, record, states_.tracks); }

  /// Events in the order of time, none after the end of its thread, and each wait at its stretch.
  void settle() {
    auto& events = states_.events;
    if (!std::ranges::is_sorted(events, {}, &RunEvent::time_ns))
      std::ranges::stable_sort(events, {}, &RunEvent::time_ns);
    std::ranges::stable_sort(waits_, {}, &Wait::time_ns);
    std::vector<bool> ended(states_.tracks.size());
    std::vector<uint32_t> last(states_.tracks.size(), kNoEvent);  // by track: its last event
    size_t kept = 0;
    auto wait = waits_.begin();
    for (const RunEvent& event : events) {
      for (; wait != waits_.end() && wait->time_ns < event.time_ns; ++wait) put(*wait, last);
      if (ended[event.track.index()]) continue;
      ended[event.track.index()] = event.ended;
      last[event.track.index()] = uint32_t(kept);
      events[kept++] = event;
    }
    events.resize(kept);
    for (; wait != waits_.end(); ++wait) put(*wait, last);
    if (!events.empty()) {
      states_.begin = {std::min(states_.begin.count, events.front().time_ns)};
      states_.end = {std::max(last_time_, events.back().time_ns)};
    }
  }

  void put(const Wait& wait, const std::vector<uint32_t>& last) {
    uint32_t at = last[wait.track.index()];
    if (at != kNoEvent && states_.events[at].active() < RunEvent::kWhole) states_.events[at].wait = wait.kind;
  }

  static constexpr uint32_t kNoEvent = UINT32_MAX;

  const File& file_;
  std::vector<Damage>& damages_;
  RunStates states_;
  WaitLooks looks_;
  std::vector<Wait> waits_;
  uint64_t chunk_time_ = 0;
  // Of switches.
  std::vector<TrackId> turn_;      // by processor: who was switched in last
  std::vector<uint16_t> runs_on_;  // by track: the processor, while it runs
  SweepStretches sweeps_;
  uint64_t sweep_begin_ = 0;  // of the last one
  uint64_t last_time_ = 0;    // that anything is known of
};

}  // namespace

tl::expected<ObserverFile, std::string> read_observer_file(const FileSource& source,
                                                           std::vector<Damage>& damages) {
  auto opened = source.open(format::kObserverFile);
  if (!opened) return tl::unexpected(opened.error());
  auto header = read_file_header(**opened, format::FileKind::kObserver);
  if (!header) return tl::unexpected(header.error());
  ObserverFile result;
  std::ranges::copy(header->session_id, result.id.begin());
  ObserverReader(**opened, damages).read(*header, result);
  return result;
}

}  // namespace varve::load
