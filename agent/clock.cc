// SPDX-License-Identifier: MIT
// See signal/clock.h.
// Context: agent start.
#include "agent/signal/clock.h"

#include <gnu/libc-version.h>

#include "agent/signal/loaded_object.h"

namespace varve::agent {

/// By the object that the name is bound to: to ask for the C library's own whoever stands before it takes
/// dlopen(), which allocates.
void learn_clock() {
  if (!can_find_objects()) return;
  dl_find_object bound{}, library{};
  if (find_object(uint64_t(&clock_gettime), bound) && find_object(uint64_t(&gnu_get_libc_version), library) &&
      bound.dlfo_link_map == library.dlfo_link_map)
    read_clock = clock_gettime;
}

}  // namespace varve::agent
