// SPDX-License-Identifier: MIT
// See process_status.h.
// Context: agent start.
#include "agent/process_status.h"

#include <cstring>

#include "agent/text.h"

namespace varve::agent {

long status_number(const char* name) {
  char status[4096], line[64];
  const long size = read_file("/proc/self/status", status, sizeof status - 1);
  status[size > 0 ? size : 0] = 0;
  TextBuilder(line, sizeof line).add("\n").add(name).add(":\t");
  const char* at = std::strstr(status, line);
  if (!at) return -1;
  at += std::strlen(line);
  if (*at < '0' || *at > '9') return -1;
  long number = 0;
  for (; *at >= '0' && *at <= '9' && number < 1L << 32; ++at) number = number * 10 + (*at - '0');
  return number;
}

}  // namespace varve::agent
