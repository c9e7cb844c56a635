// SPDX-License-Identifier: MIT
// Fuzzer of perf maps: any text gives a map in which what is found holds the address that was asked for.
// Context: tests.
#include <cstdlib>
#include <cstring>

#include "test/fuzz/replay_main.h"
#include "viewer/symbol/perf_map.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace varve;
  symbol::PerfMap map(std::string(reinterpret_cast<const char*>(data), size));
  if (map.size() > size) std::abort();
  uint64_t address = 0;
  for (size_t i = 0; i + 8 <= size && i < 256; i += 8) {
    std::memcpy(&address, data + i, 8);
    for (uint64_t at : {address, address & 0xffff, uint64_t(i) * 16}) {
      const symbol::JitSymbol* found = map.find({at});
      if (!found) continue;
      if (at < found->start || at >= found->end || found->name.empty()) std::abort();
      symbol::JitName name = symbol::parse_jit_name(found->name);
      if (name.function.empty()) std::abort();
    }
  }
  return 0;
}
