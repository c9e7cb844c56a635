// SPDX-License-Identifier: MIT
// Whether memory that the program names in a call can be touched at all. Where the kernel would have answered
// EFAULT a hook that looks first must not crash: it asks here, and leaves what is bad to the real function.
// Not for functions whose real one reads its arguments in user mode: those crash anyway. Context: any thread
// of the target, its signal handlers included.
#pragma once

#include <cstddef>

namespace varve::agent {

/// 170 ns a page. Of memory that another thread unmaps meanwhile nobody can know.
bool can_read(const void* address, size_t bytes);

/// Writes over the first and last eight bytes, of at least that many in at most two pages: of memory that is
/// to be written now.
bool can_write_over(void* address, size_t bytes);

/// An array of strings that ends with a null pointer, such as an environment; null is one.
bool can_read_strings(char* const* strings);

}  // namespace varve::agent
