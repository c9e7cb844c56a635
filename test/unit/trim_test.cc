// SPDX-License-Identifier: MIT
// Unit tests of viewer/record/trim: what is given back of agent files, and how long they are said to be.
// Context: test.
#include "viewer/record/trim.h"

#include <criterion/criterion.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "common/file_format.h"
#include "test/unit/scratch.h"

using namespace varve;
using namespace varve::record;
using varve::test::Scratch;

Test(trim, cutting_keeps_every_record) {
  Scratch scratch;
  std::vector<uint8_t> file(sizeof(format::FileHeader) + 4 * format::kPageSize);
  std::memcpy(file.data(), format::kMagic, sizeof format::kMagic);
  auto chunk = [&file](size_t page, format::ChunkType type, uint32_t pages, uint32_t used) {
    format::ChunkHeader header{};
    header.type = uint32_t(type), header.capacity = pages * format::kPageSize, header.used = used;
    std::memcpy(file.data() + sizeof(format::FileHeader) + page * format::kPageSize, &header, sizeof header);
  };
  auto size_after = [&](const char* name) {
    std::ofstream(scratch.path + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), std::streamsize(file.size()));
    trim_agent_files(scratch.descriptor, Trim::kTail);
    return std::filesystem::file_size(scratch.path + "/" + name);
  };
  chunk(0, format::ChunkType::kSamples, 1, 100);
  chunk(1, format::ChunkType::kThreads, 2, 5000);
  chunk(3, format::ChunkType::kFree, 1, 0);
  size_t begin = sizeof(format::FileHeader) + format::kPageSize;
  cr_expect(size_after("h-1-0.agent") == begin + sizeof(format::ChunkHeader) + 5000);
  cr_expect(size_after("other") == file.size(), "a file that is no agent's was cut");
  chunk(1, format::ChunkType::kThreads, 2, 9000);  // more than its capacity: not ours to judge
  cr_expect(size_after("h-2-0.agent") == file.size());
  chunk(1, format::ChunkType::kThreads, 200, 10);  // beyond the file
  cr_expect(size_after("h-3-0.agent") == file.size());

  // The lengths that are noted are up to the last record, of a file that was cut, too; of a strange one none.
  std::map<std::string, uint64_t> lengths;
  for (const load::FileLength& length : file_lengths(scratch.descriptor)) lengths[length.name] = length.bytes;
  cr_expect(lengths.size() == 2, "%zu", lengths.size());
  cr_expect(lengths["h-1-0.agent"] == begin + sizeof(format::ChunkHeader) + 5000);
  cr_expect(lengths["h-3-0.agent"] == begin + sizeof(format::ChunkHeader) + 10);
}

/// What a reader finds in a chunk is what stood there; where the chunk is, is another matter.
Test(trim, packing_leaves_out_what_no_chunk_used) {
  Scratch scratch;
  constexpr uint32_t kLarge = 16 * format::kPageSize;
  std::vector<uint8_t> file(sizeof(format::FileHeader));
  std::memcpy(file.data(), format::kMagic, sizeof format::kMagic);
  std::vector<std::string> wanted;
  auto chunk = [&](format::ChunkType type, uint32_t capacity, const std::string& records) {
    format::ChunkHeader header{};
    header.type = uint32_t(type), header.capacity = capacity, header.used = uint32_t(records.size());
    const size_t at = file.size();
    file.resize(at + capacity);
    std::memcpy(file.data() + at, &header, sizeof header);
    std::memcpy(file.data() + at + sizeof header, records.data(), records.size());
    if (!records.empty()) wanted.push_back(records);
  };
  chunk(format::ChunkType::kSamples, kLarge, std::string(100, 's'));
  chunk(format::ChunkType::kFree, format::kPageSize, "");
  chunk(format::ChunkType::kThreads, kLarge, "");
  chunk(format::ChunkType::kModules, kLarge, std::string(64, 'm'));
  chunk(format::ChunkType::kMarks, kLarge, std::string(7, 'k'));
  const std::string path = scratch.path + "/h-1-0.agent";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), std::streamsize(file.size()));
  trim_agent_files(scratch.descriptor, Trim::kAll);
  std::ifstream packed_file(path, std::ios::binary);
  const std::string packed((std::istreambuf_iterator<char>(packed_file)), {});
  std::vector<std::string> found;
  for (size_t at = sizeof(format::FileHeader); at < packed.size();) {
    format::ChunkHeader header;
    std::memcpy(&header, packed.data() + at, sizeof header);
    cr_assert(header.capacity >= sizeof header + header.used && header.capacity % format::kChunkUnit == 0);
    found.push_back(packed.substr(at + sizeof header, header.used));
    at += header.capacity;
  }
  cr_expect(found == wanted);
  cr_expect(packed.size() == sizeof(format::FileHeader) + 192 + 128 + 64 + 7);
  cr_expect(std::distance(std::filesystem::directory_iterator(scratch.path), {}) == 1, "a file was left");
}
