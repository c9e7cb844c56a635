// SPDX-License-Identifier: MIT
// Rust's linkage names, both schemes: legacy ("_ZN...17h<hash>E") and v0 ("_R...", RFC 2603). Bounded in
// depth, work and output, since names are untrusted. Context: viewer, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace varve::symbol {

/// Without hashes and disambiguators. Nothing if the name is not Rust's or does not parse.
std::optional<std::string> demangle_rust(std::string_view linkage_name);

/// Without generic arguments; "<alloc::vec::Vec<T> as core::ops::Drop>::drop" becomes
/// "alloc::vec::Vec::drop".
std::string short_rust_name(std::string_view name);

}  // namespace varve::symbol
