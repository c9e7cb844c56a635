// SPDX-License-Identifier: MIT
// See wait_looks.h.
// Context: viewer.
#include "viewer/load/wait_looks.h"

#include <algorithm>

#include "viewer/load/call_objects.h"

namespace varve::load {

void WaitLooks::add_module(ByteView record) {
  const auto row = record.read<format::WaitModuleRecord>();
  // Told in the order in which stacks met them, so a number needs no memory beyond its record.
  constexpr uint32_t kMostModules = 1 << 16;
  if (row.module >= kMostModules) throw ParseError("has too many files of code to be true");
  const auto build_id = record.take(row.build_id_size).rest();
  Module module{std::string(record.read_text()), {build_id.begin(), build_id.end()}};
  if (row.module >= modules.size()) modules.resize(row.module + 1);
  modules[row.module] = std::move(module);
}

void WaitLooks::add_file(ByteView record, const std::vector<Track>& tracks) {
  const auto row = record.read<format::WaitFileRecord>();
  if (row.track >= tracks.size()) throw ParseError("tells of a thread that it does not describe");
  const int32_t pid = tracks[row.track].pid;
  std::string name(record.read_text()), flow(record.read_text());
  const auto [at, fresh] = known_.try_emplace(std::tuple(pid, name, flow), uint32_t(files.size()));
  if (fresh) files.push_back({std::move(name), std::move(flow)});
  last_file_[{pid, row.fd}] = at->second;
}

/// The last of its number that was told.
uint32_t WaitLooks::file_of(const WaitLook& look, const std::vector<Track>& tracks) const {
  const CallObject what = object_of_call(look.system_call, look.arguments);
  if (!format::is_descriptor(what.kind)) return WaitLook::kNoFile;
  const auto at = last_file_.find({tracks[look.track.index()].pid, int32_t(what.object)});
  return at == last_file_.end() ? WaitLook::kNoFile : at->second;
}

void WaitLooks::add_look(format::RecordHeader header, ByteView record, const std::vector<Track>& tracks) {
  const auto row = record.read<format::WaitStackRecord>();
  WaitLook look;
  look.time_ns = row.time_ns;
  look.track = {row.track};
  look.system_call = row.system_call;
  std::copy_n(row.arguments, look.arguments.size(), look.arguments.begin());
  look.end = format::StackEnd(header.flags & format::kSampleEndMask);
  look.first_frame = uint32_t(frames.size());
  look.frames = row.frames;
  if (row.track >= tracks.size()) throw ParseError("tells of a thread that it does not describe");
  if (look.end >= format::StackEnd::kCount) throw ParseError("has a stack that ends for an unknown reason");
  // A frame takes two bytes at the least.
  if (row.frames > format::kMaxStackDepth || row.frames > record.size() / 2)
    throw ParseError("has a stack too deep to be true");
  try {
    for (uint32_t i = 0; i < row.frames; ++i) {
      const uint64_t module = record.read_varint();
      if (module > modules.size()) throw ParseError("has a stack through a file that it does not describe");
      frames.push_back({module == 0 ? kNoModule : uint32_t(module - 1), record.read_varint()});
    }
  } catch (const ParseError&) {
    frames.resize(look.first_frame);
    throw;
  }
  if (header.flags & format::kLookNamed) look.file = file_of(look, tracks);
  looks.push_back(look);
}

}  // namespace varve::load
