// SPDX-License-Identifier: MIT
// The table of .eh_frame_hdr, from a pc to its FDE; see cfi.h. Source: the LSB chapter on .eh_frame_hdr.
// Context: signal included.
#include "common/cfi.h"

namespace varve::cfi {
namespace {

constexpr uint8_t kPeTable = 0x3b;  // DW_EH_PE_datarel | DW_EH_PE_sdata4

/// The sorted table of a .eh_frame_hdr.
struct FrameTable {
  struct Entry {
    int32_t pc, fde;  // relative to the header
  };
  Span rows;
  uint64_t count = 0;
  bool readable = true;

  Entry at(uint64_t index) {
    Entry entry{};
    readable &= rows.load(rows.begin + index * sizeof entry, entry);
    return entry;
  }
};

Status open_table(Span hdr, FrameTable* table) {
  Cursor in(hdr);
  uint8_t version = in.read<uint8_t>();
  uint8_t frame_encoding = in.read<uint8_t>();
  uint8_t count_encoding = in.read<uint8_t>();
  uint8_t table_encoding = in.read<uint8_t>();
  if (!in.ok() || version != 1) return Status::kBad;
  if (table_encoding != kPeTable || count_encoding == kPeOmit) return Status::kNone;
  if (frame_encoding != kPeOmit) in.encoded(frame_encoding, hdr.begin);
  table->count = in.encoded(count_encoding, hdr.begin);
  table->rows = in.rest();
  const uint64_t room = (table->rows.end - table->rows.begin) / sizeof(FrameTable::Entry);
  return in.ok() && table->count <= room ? Status::kOk : Status::kBad;
}

}  // namespace

Status first_fde(Span hdr, uint64_t* pc, uint64_t* fde_address) {
  FrameTable table;
  if (const Status status = open_table(hdr, &table); status != Status::kOk) return status;
  if (table.count == 0) return Status::kNone;
  const FrameTable::Entry entry = table.at(0);
  *pc = hdr.begin + uint64_t(int64_t(entry.pc));
  *fde_address = hdr.begin + uint64_t(int64_t(entry.fde));
  return table.readable ? Status::kOk : Status::kBad;
}

Status find_fde(Span hdr, uint64_t pc, uint64_t* fde_address) {
  FrameTable table;
  if (const Status status = open_table(hdr, &table); status != Status::kOk) return status;
  int64_t wanted = int64_t(pc - hdr.begin);
  uint64_t low = 0;  // entries below `low` begin at or before pc; those from low + size on begin after it
  for (uint64_t size = table.count; size > 0;) {
    uint64_t half = size / 2;
    bool right = table.at(low + half).pc <= wanted;
    low = right ? low + half + 1 : low;
    size = right ? size - half - 1 : half;
  }
  if (table.readable && low == 0) return Status::kNone;
  *fde_address = hdr.begin + uint64_t(int64_t(table.at(low - 1).fde));
  return table.readable ? Status::kOk : Status::kBad;
}

}  // namespace varve::cfi
