// SPDX-License-Identifier: MIT
// Host facts: what the recorder can tell about the machine before the run: names, processors, limits.
// Not a judgement about them (preflight.h) and not how a view uses them.
// Context: viewer.
#pragma once

#include <sched.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve::record {

/// Session keys and values, in the order in which they are written. Facts that cannot be had are left out.
std::vector<std::pair<std::string, std::string>> host_facts();

/// "0-2,5"
std::string processor_list(const cpu_set_t& processors);
/// Physical cores among these processors; 0 where the kernel does not say.
size_t count_cores(const cpu_set_t& processors);

/// The value of a line "NAME:\tVALUE" in the text of a file of /proc, which it is a part of; empty if there
/// is none.
std::string_view value_in(std::string_view text, std::string_view name);

/// Whole small file, at most `limit` bytes; empty if it cannot be read.
std::string small_file(const std::string& path, size_t limit = 1 << 16);

/// "150000 100000" (us of CPU time, us of time) for cgroup limits that allow 1.5 processors' worth: the
/// tightest of this process's group and the groups above it, in either version of cgroups. Nothing if there
/// is no limit. `root` is "" but in tests.
std::optional<std::string> cgroup_cpu_max(const std::string& root);

/// Without blanks and ends of lines before and after.
std::string_view trimmed(std::string_view text);

}  // namespace varve::record
