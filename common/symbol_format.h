// SPDX-License-Identifier: MIT
// Rows of the symbols file, version 1: names, files and lines of every code address of a profile, so that its
// directory can be read where no binary is; and of the code file, which has code and its lines besides. A
// FileHeader page, then sealed array chunks; chunks of one type continue each other, and no row is cut in
// two. All integers are little endian. Not a reader and not a writer: those are viewer/symbol/symbol_file.
// Context: any; nothing here allocates.
#pragma once

#include "common/file_format.h"

namespace varve::format {

/// Chunks of the symbols file. The strings come first in meaning, wherever they stand: rows name them by
/// number.
enum class SymbolChunk : uint32_t {
  kStrings = uint32_t(ChunkType::kStrings),  // varint length, bytes; string 0 is empty
  kModules = fourcc("SMOD"),                 // SymbolModuleRow
  kFunctions = fourcc("FUNC"),               // SymbolFunctionRow
  kSites = fourcc("SITE"),                   // SymbolSiteRow, those of module 0 first
  kFrames = fourcc("FRAM"),                  // SymbolFrameRow, those of site 0 first
  kCode = fourcc("CODE"),                    // SymbolCodeRow, each before its bytes; by module and address
  kEnd = fourcc("SEND"),                     // empty: the file is whole
};

inline constexpr uint32_t kNoRow = UINT32_MAX;

inline constexpr uint32_t kModuleAnonymous = 1;  // code of one process image: host, pid and image say which
inline constexpr uint32_t kModuleHasSymtab = 2;
inline constexpr uint32_t kModuleHasDwarf = 4;
inline constexpr uint32_t kModuleHasQuality = 8;  // the two above and the note mean something

/// A module that has sites. Its next `site_count` rows of the site table are its own, by ascending address.
struct SymbolModuleRow {
  uint32_t path;      // string
  uint32_t build_id;  // string of its bytes
  uint32_t host;      // string; anonymous only
  int32_t pid;
  uint32_t image;
  uint32_t flags;
  uint32_t note;  // string
  uint32_t site_count;
};
static_assert(sizeof(SymbolModuleRow) == 32);

struct SymbolFunctionRow {
  uint32_t name;  // strings
  uint32_t short_name;
  uint32_t linkage_name;
  uint32_t file;
  uint32_t line;
  uint32_t module;  // row
  uint32_t source;  // symbol::NameSource
  uint32_t reserved;
  uint64_t low;  // ELF virtual address, 0 if unknown
  uint64_t size;
};
static_assert(sizeof(SymbolFunctionRow) == 48);

struct SymbolSiteRow {
  uint64_t vaddr;
  uint32_t frame_count;  // at least 1: the next rows of the frame table
  uint32_t reserved;
};
static_assert(sizeof(SymbolSiteRow) == 16);

/// Innermost first within a site; all but the last are inlined into the next.
struct SymbolFrameRow {
  uint32_t function;  // row
  uint32_t file;      // string
  uint32_t line;
  uint32_t reserved;
};
static_assert(sizeof(SymbolFrameRow) == 16);

/// Machine code as it is in the module's file, in the file "code" only. There a site holds for all addresses
/// up to the next one of the same piece of code.
struct SymbolCodeRow {
  uint64_t vaddr;
  uint32_t module;  // row
  uint32_t size;    // of the bytes that follow; at least 1
};
static_assert(sizeof(SymbolCodeRow) == 16);

}  // namespace varve::format
