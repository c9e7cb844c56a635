// SPDX-License-Identifier: MIT
// See refusal.h.
// Context: agent start, fork.
#include "agent/refusal.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include "agent/signal/raw_syscall.h"
#include "agent/text.h"

namespace varve::agent {

TextBuilder& add_process_prefix(TextBuilder& text, const char* directory) {
  utsname names{};
  raw_syscall(__NR_uname, as_arg(&names));
  for (char& c : names.nodename)
    if (c == '/') c = '_';
  text.add(directory).add("/").add(names.nodename).add("-");
  return text.add(uint64_t(raw_syscall(__NR_getpid))).add("-");
}

void note_refusal(const char* directory, format::Refused what, long error) {
  char path[4096 + 256];
  TextBuilder text(path, sizeof path);
  add_process_prefix(text, directory).add(format::kRefusedWords[uint32_t(what)]).add("-");
  if (*directory && !text.add(uint64_t(-error)).add(format::kRefusedSuffix).overflowed())
    raw_syscall(__NR_mknod, as_arg(path), S_IFREG | 0600);
}

}  // namespace varve::agent
