// SPDX-License-Identifier: MIT
// Fuzzer of ELF and DWARF reading: an input is the file of a module, and addresses all over its code and data
// are named. Every one must get at least one frame. What the input refers to outside itself is not there.
// Context: tests.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "test/fuzz/replay_main.h"
#include "viewer/symbol/elf_file.h"
#include "viewer/symbol/module_names.h"

namespace {

using namespace varve;

/// A file in memory with a path: libdw finds split DWARF by the path of what it reads.
struct MemoryFile {
  int fd = memfd_create("input", MFD_CLOEXEC);
  std::string path = "/proc/self/fd/" + std::to_string(fd);
  ~MemoryFile() { close(fd); }
};

std::vector<uint64_t> addresses_in(const symbol::ElfFile& file) {
  constexpr uint64_t kEach = 24;
  std::vector<uint64_t> vaddrs{0, 1, UINT64_MAX};
  size_t code = 0, data = 0;
  for (const symbol::Section& section : file.sections()) {
    const bool is_data = section.is_data();
    if ((!section.executable() && !is_data) || ++(is_data ? data : code) > 8) continue;
    uint64_t step = std::max<uint64_t>(section.size / kEach, 1);
    for (uint64_t i = 0; i < kEach && i * step < section.size; ++i)
      vaddrs.push_back(section.vaddr + i * step);
  }
  std::sort(vaddrs.begin(), vaddrs.end());
  vaddrs.erase(std::unique(vaddrs.begin(), vaddrs.end()), vaddrs.end());
  return vaddrs;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  MemoryFile memory;
  if (memory.fd < 0 || write(memory.fd, data, size) != ssize_t(size)) return 0;
  auto file = symbol::ElfFile::open(memory.path);
  if (!file) {
    if (file.error().empty()) std::abort();
    return 0;
  }
  load::Profile profile;
  profile.modules = {{memory.path, file->build_id(), false, {}}};
  std::vector<uint64_t> vaddrs = addresses_in(*file);
  symbol::ResolveOptions options;
  options.debug_directories = {"/nowhere"};
  symbol::OpenedModule opened(profile, {0}, options, nullptr);
  symbol::ModuleNames names = symbol::name_module(opened, profile.modules[0], 0, vaddrs, true);
  if (names.first.size() != vaddrs.size() + 1) std::abort();
  for (size_t i = 0; i < vaddrs.size(); ++i) {
    if (names.first[i] >= names.first[i + 1]) std::abort();
    for (uint32_t row = names.first[i]; row < names.first[i + 1]; ++row)
      if (names.frames[row].function >= names.functions.size()) std::abort();
  }
  for (const symbol::NamedFunction& function : names.functions)
    if (function.name.empty() || function.identity.empty()) std::abort();
  return 0;
}
