// SPDX-License-Identifier: MIT
// LateLibrary: a shared library that is loaded when it is first needed, and may be missing. It is never
// unloaded. Context: viewer.
#pragma once

#include <dlfcn.h>

#include <string>

namespace varve::symbol {

class LateLibrary {
 public:
  explicit LateLibrary(const std::string& name) : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) note_error();
  }

  /// Sets `function` to the one of that name; null where there is none.
  template <typename Function>
  void find(const char* name, Function& function) {
    function = handle_ ? reinterpret_cast<Function>(dlsym(handle_, name)) : nullptr;
    if (!function && trouble_.empty()) note_error();
  }

  /// A clause that says what could not be found first; empty: nothing is missing.
  const std::string& trouble() const { return trouble_; }

 private:
  void note_error() {
    const char* error = dlerror();
    trouble_ = error ? error : "a function is missing";
  }

  void* handle_;
  std::string trouble_;
};

}  // namespace varve::symbol
