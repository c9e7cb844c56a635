// SPDX-License-Identifier: MIT
// CodeFile: what is needed of an ELF file to unwind through its code from outside the process that maps it:
// segments, build id, call frame information. It is read into memory, never mapped: a file that is truncated
// meanwhile would be SIGBUS. The file may be anything. Not the evaluation of rules: common/cfi.h is.
// Context: viewer, one thread.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/cfi.h"

namespace varve::record::observe {

/// The rule for one address.
struct CodeRule {
  cfi::Status status = cfi::Status::kNone;
  cfi::Fde fde;  // its spans lie in the CodeFile
  cfi::Row row;
};

class CodeFile {
 public:
  /// Reads the open `descriptor`, at most `most_bytes` of unwind information. A file that is no ELF file of
  /// this machine has no segment, no build id and no rule.
  CodeFile(int descriptor, uint64_t most_bytes);
  CodeFile(const CodeFile&) = delete;
  CodeFile& operator=(const CodeFile&) = delete;

  /// The rule at an ELF virtual address.
  const CodeRule& rule_at(uint64_t address);

  /// Runtime address - ELF virtual address, where the file is mapped executable: `length` bytes from `offset`
  /// on, to `begin`. `begin` itself where no segment is in those bytes.
  uint64_t bias_of(uint64_t begin, uint64_t offset, uint64_t length) const;

  const std::vector<uint8_t>& build_id() const { return build_id_; }
  size_t bytes() const { return span_.end - span_.begin; }

 private:
  struct Segment {
    uint64_t address, offset, file_bytes;
    bool executable;
  };

  void read_build_id(int descriptor, uint64_t offset, uint64_t bytes);
  void read_frames(int descriptor, uint64_t header_address, uint64_t most_bytes);
  CodeRule make_rule(uint64_t address) const;

  std::vector<Segment> segments_;
  std::vector<uint8_t> build_id_;
  std::unique_ptr<uint8_t[]> frames_;  // .eh_frame_hdr and .eh_frame
  cfi::Span span_;                     // the same, by address
  uint64_t frame_header_ = 0;          // address of .eh_frame_hdr
  std::unordered_map<uint64_t, CodeRule> rules_;
};

}  // namespace varve::record::observe
