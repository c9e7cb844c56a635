// SPDX-License-Identifier: MIT
// The main of a fuzzer that is compiled with -DREPLAY, for any compiler: runs the files and directories it is
// given. Context: tests.
#pragma once

#ifdef REPLAY
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

inline void replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

int main(int argc, char** argv) {
  size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i]))
      replay(argv[i]), ++count;
    else
      for (const auto& entry : std::filesystem::directory_iterator(argv[i])) replay(entry.path()), ++count;
  }
  std::printf("%s: %zu inputs\n", std::filesystem::path(argv[0]).filename().c_str(), count);
  return count ? 0 : 1;
}
#endif
