// SPDX-License-Identifier: MIT
// See remote_memory.h.
// Context: viewer.
#include "viewer/record/observe/remote_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "viewer/record/filter_trial.h"

namespace varve::record::observe {

const RemoteMemory::Block* RemoteMemory::block(uint64_t address) {
  Block& place = blocks_[address / kBlockBytes % kBlocks];
  if (place.address == address) return &place;
  if (++reads_ > kMostReads) return nullptr;
  place.address = 1;
  if (!read_process(process_, address, place.bytes.data(), kBlockBytes)) {
    refused_ |= errno == EPERM;
    return nullptr;
  }
  place.address = address;
  return &place;
}

bool RemoteMemory::copy(uint64_t address, void* to, size_t size) {
  auto* out = static_cast<uint8_t*>(to);
  while (size > 0) {
    const size_t offset = address % kBlockBytes, part = std::min(size, kBlockBytes - offset);
    const Block* from = block(address - offset);
    if (!from) return false;
    std::memcpy(out, from->bytes.data() + offset, part);
    out += part;
    address += part;
    size -= part;
  }
  return true;
}

}  // namespace varve::record::observe
