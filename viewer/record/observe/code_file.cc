// SPDX-License-Identifier: MIT
// Program headers, notes and .eh_frame by pread. See code_file.h.
// Context: viewer.
#include "viewer/record/observe/code_file.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace varve::record::observe {
namespace {

constexpr uint16_t kMostSegments = 256;
constexpr uint64_t kMostNoteBytes = 64 * 1024;
constexpr uint32_t kMostBuildId = 64;
/// A rule takes a third of a KB, and the stacks of waiting threads lead through few places.
constexpr size_t kMostRules = 2048;

bool read_at(int descriptor, void* to, size_t bytes, uint64_t offset) {
  return offset <= INT64_MAX && pread(descriptor, to, bytes, off_t(offset)) == ssize_t(bytes);
}

bool is_ours(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == EM_X86_64 &&
         header.e_phentsize == sizeof(Elf64_Phdr) && header.e_phnum <= kMostSegments;
}

}  // namespace

CodeFile::CodeFile(int descriptor, uint64_t most_bytes) {
  Elf64_Ehdr header;
  if (!read_at(descriptor, &header, sizeof header, 0) || !is_ours(header)) return;
  std::vector<Elf64_Phdr> all(header.e_phnum);
  if (!read_at(descriptor, all.data(), all.size() * sizeof all[0], header.e_phoff)) return;
  for (const Elf64_Phdr& each : all)
    if (each.p_type == PT_LOAD)
      segments_.push_back({each.p_vaddr, each.p_offset, each.p_filesz, (each.p_flags & PF_X) != 0});
  for (const Elf64_Phdr& each : all)
    if (each.p_type == PT_NOTE) read_build_id(descriptor, each.p_offset, each.p_filesz);
  const auto frames = std::ranges::find(all, Elf64_Word{PT_GNU_EH_FRAME}, &Elf64_Phdr::p_type);
  if (frames != all.end()) read_frames(descriptor, frames->p_vaddr, most_bytes);
}

/// Notes: three words (bytes of name and content, type), then the two, each padded to a multiple of 4.
void CodeFile::read_build_id(int descriptor, uint64_t offset, uint64_t bytes) {
  std::vector<uint8_t> notes(std::min(bytes, kMostNoteBytes));
  if (!read_at(descriptor, notes.data(), notes.size(), offset)) return;
  cfi::Cursor cursor({0, notes.size(), uint64_t(notes.data())});
  const auto padded = [](uint32_t size) { return (uint64_t(size) + 3) & ~uint64_t{3}; };
  while (!cursor.empty()) {
    const auto name = cursor.read<uint32_t>(), content = cursor.read<uint32_t>(),
               type = cursor.read<uint32_t>();
    const cfi::Span owner = cursor.take(padded(name)), id = cursor.take(padded(content));
    if (!cursor.ok()) return;
    const bool gnu = name == 4 && std::memcmp(notes.data() + owner.begin, "GNU", 4) == 0;
    if (gnu && type == NT_GNU_BUILD_ID && content <= kMostBuildId)
      build_id_.assign(notes.data() + id.begin, notes.data() + id.begin + content);
  }
}

/// .eh_frame has no program header of its own: it lies in the segment of its table, behind or before that.
void CodeFile::read_frames(int descriptor, uint64_t header_address, uint64_t most_bytes) {
  const auto holds = [&](uint64_t address) {
    return [address](const Segment& each) {
      return address >= each.address && address - each.address < each.file_bytes;
    };
  };
  const auto segment = std::ranges::find_if(segments_, holds(header_address));
  uint8_t start[16];
  if (segment == segments_.end() ||
      !read_at(descriptor, start, sizeof start, segment->offset + (header_address - segment->address)))
    return;
  // Version, three encodings, then the encoded address of .eh_frame.
  cfi::Cursor cursor({header_address, header_address + sizeof start, uint64_t(start) - header_address});
  cursor.skip(1);
  const auto encoding = cursor.read<uint8_t>();
  cursor.skip(2);
  const uint64_t frames = cursor.encoded(encoding, header_address);
  if (!cursor.ok() || !holds(frames)(*segment)) return;
  const uint64_t begin = std::min(frames, header_address), end = segment->address + segment->file_bytes;
  if (end - begin > most_bytes) return;
  // Megabytes: zeroing takes half as long.
  auto bytes = std::make_unique_for_overwrite<uint8_t[]>(end - begin);
  if (!read_at(descriptor, bytes.get(), end - begin, segment->offset + (begin - segment->address))) return;
  frames_ = std::move(bytes);
  span_ = {begin, end, uint64_t(frames_.get()) - begin};
  frame_header_ = header_address;
}

CodeRule CodeFile::make_rule(uint64_t address) const {
  CodeRule rule;
  uint64_t at = 0;
  if (span_.begin == span_.end) return rule;
  rule.status = cfi::find_fde(span_.sub(frame_header_, span_.end), address, &at);
  if (rule.status == cfi::Status::kOk)
    rule.status = cfi::parse_fde(span_, at, frame_header_, address, &rule.fde);
  if (rule.status == cfi::Status::kOk) rule.status = cfi::run_program(rule.fde, address, &rule.row);
  return rule;
}

const CodeRule& CodeFile::rule_at(uint64_t address) {
  if (const auto known = rules_.find(address); known != rules_.end()) return known->second;
  if (rules_.size() >= kMostRules) rules_.clear();
  return rules_.emplace(address, make_rule(address)).first->second;
}

uint64_t CodeFile::bias_of(uint64_t begin, uint64_t offset, uint64_t length) const {
  for (const Segment& each : segments_)
    if (each.executable && each.offset < offset + length && offset < each.offset + each.file_bytes)
      return begin - (each.address + (offset - each.offset));
  return begin;
}

}  // namespace varve::record::observe
