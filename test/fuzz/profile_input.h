// SPDX-License-Identifier: MIT
// Bytes of a fuzzer as the files of a profile: the first byte chooses what the rest is. Context: tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "common/file_format.h"
#include "viewer/load/file_source.h"

namespace varve::fuzz {

inline constexpr uint8_t kSession = 1;  // the file is a session, not an agent's
inline constexpr uint8_t kRepair =
    2;  // magic and checksum of the header are set right, so that mutations reach the chunks
inline constexpr uint8_t kTwoFiles = 4;   // the first half is a session, the second an agent's file
inline constexpr uint8_t kParallel = 8;   // decoding by several threads must give the same
inline constexpr uint8_t kObserver = 16;  // the first half is an agent's file, the second an observer's

inline std::vector<uint8_t> make_file(const uint8_t* data, size_t size, format::FileKind kind, bool repair) {
  std::vector<uint8_t> file(data, data + size);
  format::FileHeader header;
  if (!repair || size < sizeof header) return file;
  std::memcpy(&header, data, sizeof header);
  std::memcpy(header.magic, format::kMagic, sizeof header.magic);
  header.major = format::kMajor;
  header.byte_order = format::kByteOrder;
  header.kind = uint16_t(kind);
  std::memset(header.session_id, 0, sizeof header.session_id);
  header.checksum = format::header_checksum(header);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

inline load::MemorySource make_source(uint8_t mode, const uint8_t* data, size_t size) {
  bool repair = mode & kRepair;
  size_t session = mode & kTwoFiles  ? size / 2 / format::kPageSize * format::kPageSize
                   : mode & kSession ? size
                                     : 0;
  std::map<std::string, std::vector<uint8_t>> files;
  if (mode & kObserver) {
    const size_t agent = size / 2 / format::kPageSize * format::kPageSize;
    files["host-1-0.agent"] = make_file(data, agent, format::FileKind::kAgent, repair);
    files[format::kObserverFile] = make_file(data + agent, size - agent, format::FileKind::kObserver, repair);
    return load::MemorySource(std::move(files));
  }
  if (session > 0) files[format::kSessionFile] = make_file(data, session, format::FileKind::kSession, repair);
  if (session < size)
    files["host-1-0.agent"] = make_file(data + session, size - session, format::FileKind::kAgent, repair);
  return load::MemorySource(std::move(files));
}

}  // namespace varve::fuzz
