// SPDX-License-Identifier: MIT
// Where the symbols and the DWARF of a stripped file are: beside it, under the debug directories, compressed
// inside it (MiniDebugInfo), or on a debuginfod server. Context: viewer, any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "common/units.h"
#include "viewer/symbol/elf_file.h"
#include "viewer/symbol/resolve_options.h"

namespace varve::symbol {

/// Time-boxed access to debuginfod, shared by all workers of one run, which may ask at the same time. The
/// library is loaded, and the time begins, when it is first asked.
class Debuginfod {
 public:
  explicit Debuginfod(Nanos budget) : budget_(budget.count) {}
  /// Path of the downloaded debug file; nothing if there is none or the time is up.
  std::optional<std::string> find_debug_file(std::span<const uint8_t> build_id);
  /// The same for a source file by its recorded path.
  std::optional<std::string> find_source(std::span<const uint8_t> build_id, const std::string& file);
  /// Why it found nothing, if there is a reason that the user can mend; else empty.
  std::string reason() const;

 private:
  using Clock = std::chrono::steady_clock;
  template <typename Find>
  std::optional<std::string> ask(Find find);
  Clock::time_point deadline();
  std::nullopt_t give_up(const char* reason);

  mutable std::mutex mutex_;
  std::chrono::nanoseconds budget_;
  std::optional<Clock::time_point> deadline_;
  std::string reason_;
};

/// The separate debug file of a module: by build id, then by .gnu_debuglink, then from a server. `file` may
/// be null: the module's own file is gone. What is returned has the right build id, or the right checksum.
std::optional<ElfFile> find_debug_file(const ElfFile* file, std::span<const uint8_t> build_id,
                                       const ResolveOptions& options, Debuginfod* server);

/// The symbol table that is compressed in .gnu_debugdata; nothing if there is none or it does not decode.
std::optional<ElfFile> mini_debug_info(const ElfFile& file);

}  // namespace varve::symbol
