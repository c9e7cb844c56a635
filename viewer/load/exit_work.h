// SPDX-License-Identifier: MIT
// Exit work: what the kernel does for a thread when its process exits, after the agent's last look at the
// thread's clock: it gives back the memory, 3 ms of it for a compiler. Context switches show it where
// the kernel records an exit when that is done; Linux 6.18 records it before. Context: viewer.
#pragma once

#include <vector>

#include "viewer/load/profile.h"

namespace varve::load {

/// The time that each thread ran after `last_look`, by its switches, in ns; zero where that is zero, where
/// there are no switches, and where the thread's track went on with another image. `last_look` has a row a
/// thread.
std::vector<Nanos> exit_work(const Profile& profile, const std::vector<Nanos>& last_look);

}  // namespace varve::load
