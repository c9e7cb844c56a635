// SPDX-License-Identifier: MIT
// The symbols file of a profile: written once after a run, read by every report. What it holds is a
// SymbolTable keyed by modules and addresses rather than by the rows of a Profile, so it outlives changes in
// how a profile is loaded. The file is untrusted: every number in it is checked, and memory is bounded by its
// size. The code file is of the same format, and so is read and written here too. Context: viewer.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "viewer/load/profile.h"
#include "viewer/symbol/code_table.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::symbol {

/// A table for the sites of one profile, in which some may have no frames.
struct PartialSymbols {
  SymbolTable table;
  std::vector<bool> missing;  // one flag a site
};

/// The bytes of a symbols file.
std::vector<uint8_t> encode_symbols(const load::Profile& profile, const SymbolTable& table,
                                    const load::SessionId& session);

/// The error is a clause without a subject: "fails a checksum".
tl::expected<PartialSymbols, std::string> decode_symbols(std::span<const uint8_t> bytes,
                                                         const load::Profile& profile,
                                                         const load::SessionId& session);

/// Writes profile.directory/symbols; a reader sees the old file or the new one, never half of one. The error
/// is a sentence.
tl::expected<void, std::string> write_symbol_file(const load::Profile& profile, const SymbolTable& table);

/// Reads it. A file that is not there: no error, everything is missing. The error is a sentence.
tl::expected<PartialSymbols, std::string> read_symbol_file(const load::Profile& profile);

/// The same of profile.directory/code. Without a file the table is empty.
std::vector<uint8_t> encode_code(const load::Profile& profile, const CodeTable& code,
                                 const load::SessionId& session);
tl::expected<CodeTable, std::string> decode_code(std::span<const uint8_t> bytes, const load::Profile& profile,
                                                 const load::SessionId& session);
tl::expected<void, std::string> write_code_file(const load::Profile& profile, const CodeTable& code);
tl::expected<CodeTable, std::string> read_code_file(const load::Profile& profile);

}  // namespace varve::symbol
