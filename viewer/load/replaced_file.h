// SPDX-License-Identifier: MIT
// ReplacedFile: a file of a profile that is written whole. It grows beside its place under a name of its own
// and is renamed when it is done, so a reader sees the old file or the new one, never half of one. Context:
// viewer.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/file_format.h"
#include "tl/expected.hpp"

namespace varve::load {

class ReplacedFile {
 public:
  explicit ReplacedFile(std::string path);
  /// What was not put in its place is removed.
  ~ReplacedFile();
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  /// Appends. After the first failure nothing is written any more, and finish() tells of it.
  void write(std::span<const uint8_t> bytes);
  /// The header and the rest of its page; then sealed array chunks of at most 4 GB.
  void write_header(const format::FileHeader& header);
  void write_chunk(uint32_t type, std::span<const uint8_t> rows);
  /// Puts the file in its place. The error is a sentence.
  tl::expected<void, std::string> finish();

 private:
  const std::string path_;
  std::string temporary_;
  int fd_;
  uint32_t chunks_ = 0;
  int error_ = 0;  // errno of the first failure
};

}  // namespace varve::load
