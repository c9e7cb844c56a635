// SPDX-License-Identifier: MIT
// See symbol_tools.h. Context: tests.
#include "test/unit/symbol_tools.h"

#include <criterion/criterion.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "viewer/symbol/elf_file.h"

namespace varve::test {

ScratchDirectory::ScratchDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "varve-symbol-XXXXXX").string();
  path_ = mkdtemp(name.data());
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<uint8_t> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string shell(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  cr_assert(pipe != nullptr);
  std::string output;
  char buffer[4096];
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
  cr_assert_eq(pclose(pipe), 0, "failed: %s", command.c_str());
  return output;
}

load::Profile profile_of(const std::string& module, const std::vector<uint64_t>& vaddrs,
                         const std::string& directory) {
  load::Profile profile;
  profile.directory = directory;
  auto file = symbol::ElfFile::open(module);
  profile.modules.push_back({module, file ? file->build_id() : std::vector<uint8_t>(), false, {}});
  for (uint64_t vaddr : vaddrs) profile.sites.push_back({ModuleId{0}, {vaddr}});
  return profile;
}

std::string chain_of(const symbol::SymbolTable& table, uint32_t site) {
  std::string text;
  for (const symbol::Frame& frame : table.frames({site})) {
    const symbol::Function& function = table.functions[frame.function.index()];
    std::string file = std::filesystem::path(table.strings.text(frame.file)).filename().string();
    text += fmt::format("{} {}:{}{}\n", table.strings.text(function.name), file, frame.line,
                        frame.inlined ? " (inlined)" : "");
  }
  return text;
}

std::string function_of(const symbol::SymbolTable& table, uint32_t site) {
  return std::string(table.strings.text(table.functions[table.frames({site}).back().function.index()].name));
}

uint64_t address_of(const std::string& file, const std::string& symbol) {
  std::istringstream lines(shell(fmt::format("nm '{}'", file)));
  for (std::string line; std::getline(lines, line);)
    if (line.size() > 19 && line[0] != ' ' && line.substr(19) == symbol)
      return std::stoull(line.substr(0, 16), nullptr, 16);
  cr_assert(false, "no symbol %s in %s", symbol.c_str(), file.c_str());
  return 0;
}

}  // namespace varve::test
