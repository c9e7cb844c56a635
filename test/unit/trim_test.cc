// SPDX-License-Identifier: MIT
// Unit tests of viewer/record/trim: what is given back of agent files, and how long they are said to be.
// Context: test.
#include "viewer/record/trim.h"

#include <criterion/criterion.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "common/file_format.h"
#include "test/unit/scratch.h"
#include "viewer/load/chunk_reader.h"

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

/// An agent's file with space in its chunks, and what stands in them.
struct Loose {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(sizeof(format::FileHeader));
  std::vector<std::string> records;

  Loose() { std::memcpy(bytes.data(), format::kMagic, sizeof format::kMagic); }
  void add(format::ChunkType type, uint32_t capacity, const std::string& text) {
    format::ChunkHeader header{};
    header.type = uint32_t(type), header.capacity = capacity, header.used = uint32_t(text.size());
    const size_t at = bytes.size();
    bytes.resize(at + capacity);
    std::memcpy(bytes.data() + at, &header, sizeof header);
    std::memcpy(bytes.data() + at + sizeof header, text.data(), text.size());
    if (!text.empty()) records.push_back(text);
  }
};

struct Packed {
  uint64_t size = 0, inode = 0, inode_before = 0;
  size_t files = 0;
  std::vector<std::string> records;
};

uint64_t inode_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

Packed packed(const Loose& loose) {
  Scratch scratch;
  const std::string path = scratch.path + "/h-1-0.agent";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(loose.bytes.data()), std::streamsize(loose.bytes.size()));
  Packed result;
  result.inode_before = inode_of(path);
  trim_agent_files(scratch.descriptor, Trim::kAll);
  result.inode = inode_of(path);
  result.size = std::filesystem::file_size(path);
  result.files = size_t(std::distance(std::filesystem::directory_iterator(scratch.path), {}));
  const auto file = load::open_file(path);
  cr_assert(file.has_value());
  std::vector<load::Damage> damages;
  std::vector<uint8_t> buffer;
  for (const load::Chunk& chunk : load::list_chunks(**file, path, {}, damages)) {
    if (chunk.is(format::ChunkType::kFree)) continue;
    const auto records = load::read_chunk(**file, chunk, buffer);
    cr_assert(records.has_value());
    result.records.emplace_back(buffer.begin(), buffer.begin() + ptrdiff_t(records->size()));
  }
  cr_expect(damages.empty(), "%s", damages.empty() ? "" : damages.front().sentence.c_str());
  return result;
}

constexpr uint32_t kLarge = 16 * format::kPageSize;

/// What a reader finds in a chunk is what stood there; where the chunk is, is another matter.
Test(trim, packing_leaves_out_what_no_chunk_used) {
  Loose loose;
  loose.add(format::ChunkType::kSamples, kLarge, std::string(100, 's'));
  loose.add(format::ChunkType::kFree, format::kPageSize, "");
  loose.add(format::ChunkType::kThreads, kLarge, "");
  loose.add(format::ChunkType::kModules, kLarge, std::string(64, 'm'));
  loose.add(format::ChunkType::kMarks, kLarge, std::string(7, 'k'));
  const Packed small = packed(loose);
  cr_expect(small.records == loose.records);
  cr_expect(small.size == sizeof(format::FileHeader) + 192 + 128 + 64 + 7);
  cr_expect(small.inode == small.inode_before, "a page needs no new file");
  cr_expect(small.files == 1, "a file was left");

  loose.add(format::ChunkType::kSamples, kLarge, std::string(format::kPageSize, 't'));
  const Packed large = packed(loose);
  cr_expect(large.records == loose.records);
  cr_expect(large.size == sizeof(format::FileHeader) + 192 + 128 + 128 + 64 + format::kPageSize);
  cr_expect(large.inode != large.inode_before, "what is longer than a page is never half old and half new");
  cr_expect(large.files == 1, "a file was left");
}

/// Room for the header of what is free must be left in the page.
Test(trim, a_page_that_is_full_is_no_page) {
  constexpr uint32_t kFixed = sizeof(format::FileHeader) + sizeof(format::ChunkHeader);
  for (const uint32_t left : {0u, format::kChunkUnit}) {
    Loose loose;
    loose.add(format::ChunkType::kFree, kLarge, "");
    loose.add(format::ChunkType::kSamples, kLarge, std::string(format::kPageSize - kFixed - left, 's'));
    const Packed result = packed(loose);
    cr_expect(result.records == loose.records);
    cr_expect((result.inode == result.inode_before) == (left != 0), "%u left", left);
  }
}

/// As if the recorder were killed before the file is cut.
void refuse_cuts() {
  sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ftruncate, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter{uint16_t(std::size(program)), program};
  cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

Test(trim, what_is_not_cut_has_each_record_once) {
  Loose loose;
  loose.add(format::ChunkType::kSamples, kLarge, std::string(100, 's'));
  loose.add(format::ChunkType::kModules, kLarge, std::string(64, 'm'));
  refuse_cuts();
  const Packed uncut = packed(loose);
  cr_expect_eq(uncut.size, loose.bytes.size());
  cr_expect(uncut.records == loose.records);
  loose.add(format::ChunkType::kSamples, kLarge, std::string(format::kPageSize, 't'));
  cr_expect(packed(loose).records == loose.records);
}
