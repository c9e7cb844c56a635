// SPDX-License-Identifier: MIT
// What the kernel says that a reaped process used, as a record; for the recorder and for agents. Context:
// any.
#pragma once

#include <sys/resource.h>

#include "common/file_format.h"

namespace varve::format {

constexpr uint64_t to_nanos(const timeval& time) {
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_usec) * 1'000;
}

inline ProcessExitRecord exit_record(int32_t pid, int32_t status, const rusage& used, uint64_t time_ns) {
  ProcessExitRecord record{};
  record.header = {sizeof record, uint8_t(RecordKind::kProcessExit), 0};
  record.pid = pid;
  record.status = status;
  record.user_ns = to_nanos(used.ru_utime);
  record.system_ns = to_nanos(used.ru_stime);
  record.max_rss_bytes = uint64_t(used.ru_maxrss) * 1024;  // from KiB
  record.time_ns = time_ns;
  return record;
}

}  // namespace varve::format
