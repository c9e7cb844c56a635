// SPDX-License-Identifier: MIT
// Fuzzer of the demanglers and the short names: any bytes give names of bounded length, never an empty one.
// Context: tests.
#include <cstdlib>

#include "test/fuzz/replay_main.h"
#include "viewer/symbol/demangle.h"
#include "viewer/symbol/rust_names.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace varve;
  std::string text(reinterpret_cast<const char*>(data), size);
  for (const std::string& name : {text, "_Z" + text, "_ZN" + text, "_R" + text}) {
    symbol::Demangled names = symbol::demangle(name);
    bool empty = names.full.empty() || names.short_form.empty();
    if (empty && !name.empty()) std::abort();
    if (names.full.size() > symbol::max_demangled(name.size())) std::abort();
  }
  symbol::short_cxx_name(text);
  symbol::short_rust_name(text);
  return 0;
}
