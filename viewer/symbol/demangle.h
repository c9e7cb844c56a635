// SPDX-License-Identifier: MIT
// Linkage names to names for people: C++ by the compiler's own demangler, Rust by rust_names.h, and short
// forms for narrow tables. Names are untrusted: input and output are bounded, and what does not parse stays
// as it is. Not escaping: control characters are the renderer's business. Context: viewer, any thread.
#pragma once

#include <string>
#include <string_view>

namespace varve::symbol {

struct Demangled {
  std::string full;        // "ns::Queue<int>::push(int const&)"
  std::string short_form;  // "ns::Queue::push"
};

/// Names longer than this stay mangled. Real ones of heavy templates reach 30 KB.
inline constexpr size_t kMaxLinkageName = 64 * 1024;

/// A result longer than this is refused: real ones stay below thirty times the mangled length, and with the
/// bound all names together stay in proportion to the file they come from.
constexpr size_t max_demangled(size_t linkage_length) { return 100 * linkage_length + 4096; }

Demangled demangle(std::string_view linkage_name);

/// Without template arguments, parameters, return type, ABI tags and anonymous namespaces; the type of a
/// conversion operator, which is its name, stays whole. A name in which nothing of that is found comes back
/// unchanged.
std::string short_cxx_name(std::string_view name);

}  // namespace varve::symbol
