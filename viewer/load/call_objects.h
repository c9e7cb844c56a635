// SPDX-License-Identifier: MIT
// What a blocked thread waits for by the system call it is in: the kind of object and which. Linux on x86-64.
// Not the WaitKind of the observer, which tells fewer kinds and has no object. Context: viewer.
#pragma once

#include <array>
#include <cstdint>

#include "common/wait_format.h"

namespace varve::load {

struct CallObject {
  format::ObjectKind kind = format::ObjectKind::kNone;  // kNone: a call of which nothing can be said
  uint64_t object = 0;                                  // see format::ObjectKind
};
CallObject object_of_call(int32_t number, const std::array<uint64_t, 2>& arguments);

}  // namespace varve::load
