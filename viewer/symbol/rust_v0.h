// SPDX-License-Identifier: MIT
// Rust's linkage names of the v0 scheme (RFC 2603).
// Context: viewer, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace varve::symbol {

/// `mangled`: what follows "_R". Bounded in depth, work and output; nothing if it does not parse.
std::optional<std::string> demangle_rust_v0(std::string_view mangled);

}  // namespace varve::symbol
