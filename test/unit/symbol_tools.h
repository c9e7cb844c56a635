// SPDX-License-Identifier: MIT
// What the symbol tests share: a scratch directory, programs built with the compiler at hand, and profiles
// made of chosen addresses. Context: tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/load/profile.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::test {

/// Removed with all it holds.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void write_text(const std::string& path, const std::string& text);
std::vector<uint8_t> read_bytes(const std::string& path);

/// Runs a shell command; fails the test if it fails. Returns what it printed.
std::string shell(const std::string& command);

/// A profile of one module with these addresses, in `directory`. The build id is the file's own.
load::Profile profile_of(const std::string& module, const std::vector<uint64_t>& vaddrs,
                         const std::string& directory);

/// One line a frame, innermost first: "name file:line", with " (inlined)".
std::string chain_of(const symbol::SymbolTable& table, uint32_t site);

/// Name of the outermost function of a site.
std::string function_of(const symbol::SymbolTable& table, uint32_t site);

/// Value of a symbol, by nm.
uint64_t address_of(const std::string& file, const std::string& symbol);

}  // namespace varve::test
