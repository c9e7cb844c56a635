// SPDX-License-Identifier: MIT
// The functions behind our hooks: the next definition after ours in the search order, looked up once, at the
// first call or at agent start, whichever comes first. A hook may run before our constructor: other
// libraries' constructors call things. Context: any thread of the target; not signal (dlsym may take the
// loader's lock), so init resolves all of them early.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace varve::agent {

/// Resolves a name in the default version.
template <typename Function>
class Real {
 public:
  constexpr explicit Real(const char* name) : name_(name) {}

  Function* get() {
    Function* function = function_.load(std::memory_order_acquire);
    return function ? function : resolve();
  }
  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    if (Function* function = function_.load(std::memory_order_acquire)) [[likely]]
      return function(arguments...);
    return resolve_and_call(arguments...);
  }

 private:
  /// A function of its own, so that a hook whose function is known is a jump without a frame.
  template <typename... Arguments>
  [[gnu::noinline]] auto resolve_and_call(Arguments... arguments) {
    return resolve()(arguments...);
  }
  Function* resolve() {
    auto* found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
    function_.store(found, std::memory_order_release);
    return found;
  }

  const char* name_;
  std::atomic<Function*> function_{nullptr};
};

/// A hook: visible to the program under the name of the function it stands before.
#define VARVE_HOOK extern "C" __attribute__((visibility("default")))

}  // namespace varve::agent
