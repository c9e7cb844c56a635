// SPDX-License-Identifier: MIT
// What the builders of test profiles write with: records, chunks and the begin of a file. Context: tests.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "common/varint.h"
#include "test/unit/profile_builder.h"

namespace varve::test {

using Bytes = std::vector<uint8_t>;

template <typename T>
void append(Bytes& out, const T& object) {
  auto* begin = reinterpret_cast<const uint8_t*>(&object);
  out.insert(out.end(), begin, begin + sizeof object);
}

inline void append_text(Bytes& out, const std::string& text) {
  out.insert(out.end(), text.begin(), text.end());
  out.push_back(0);
}

/// Appends a record; its size is set here.
inline void append_record(Bytes& out, format::RecordKind kind, uint8_t flags, Bytes record) {
  format::RecordHeader header{uint16_t(record.size()), uint8_t(kind), flags};
  std::memcpy(record.data(), &header, sizeof header);
  out.insert(out.end(), record.begin(), record.end());
}

template <typename T>
Bytes record_of(const T& object) {
  Bytes record;
  append(record, object);
  return record;
}

inline void append_varint(Bytes& out, uint64_t value) {
  uint8_t text[10];
  out.insert(out.end(), text, put_varint(text, value));
}

/// Appends a record of a sample chunk that is no sample.
inline void append_event(Bytes& out, format::RecordKind kind, uint8_t flags, const Bytes& body) {
  append_varint(out, body.size() + 2);
  out.push_back(flags | format::kOtherThanSample);
  out.push_back(uint8_t(kind));
  out.insert(out.end(), body.begin(), body.end());
}

inline Bytes begin_file(format::FileKind kind, const BuiltProcess& process) {
  format::FileHeader header{};
  std::memcpy(header.magic, format::kMagic, sizeof header.magic);
  header.major = format::kMajor;
  header.minor = format::kMinor;
  header.byte_order = format::kByteOrder;
  header.kind = uint16_t(kind);
  header.pid = process.pid;
  header.ppid = process.ppid;
  header.image = process.image;
  header.start_monotonic_ns = process.start_time_ns;
  header.start_realtime_ns = 1'700'000'000'000'000'000 + process.start_time_ns;
  header.checksum = format::header_checksum(header);
  Bytes file;
  append(file, header);
  file.resize(format::kPageSize);
  return file;
}

inline uint32_t round_to_page(size_t bytes) {
  return uint32_t((bytes + format::kPageSize - 1) / format::kPageSize * format::kPageSize);
}

inline void append_chunk(Bytes& file, format::ChunkHeader header, format::ChunkType type,
                         const Bytes& records, bool seal) {
  header.type = uint32_t(type);
  header.version = format::chunk_version(type);
  header.used = uint32_t(records.size());
  header.capacity = round_to_page(sizeof header + records.size());
  size_t offset = file.size();
  append(file, header);
  file.insert(file.end(), records.begin(), records.end());
  file.resize(offset + header.capacity);
  if (seal) seal_chunk(file, offset);
}

inline format::ChunkHeader threadless() {
  format::ChunkHeader header{};
  header.thread = format::kNoThread;
  return header;
}

}  // namespace varve::test
