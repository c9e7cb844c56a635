// SPDX-License-Identifier: MIT
// Numbers that the kernel shows of this process in /proc/self/status alone. Context: agent start.
#pragma once

namespace varve::agent {

/// The decimal number behind "NAME:"; -1: there is none, or the file cannot be read. 20 us.
long status_number(const char* name);

}  // namespace varve::agent
