// SPDX-License-Identifier: MIT
// See child_environment.h.
// Context: agent start; exec and posix_spawn hooks.
#include "agent/child_environment.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "agent/program_kind.h"
#include "agent/program_memory.h"
#include "agent/session.h"
#include "agent/text.h"

namespace varve::agent {
namespace {

char own_library[4096];                              // as it stands in LD_PRELOAD
char session_entry[sizeof kSessionVariable + 4096];  // VARVE_SESSION=...

bool is_entry_of(const char* entry, const char* name) {
  size_t length = std::strlen(name);
  return !std::strncmp(entry, name, length) && entry[length] == '=';
}

bool is_separator(char c) { return c == ':' || c == ' '; }

/// The element of a preload list that is this library, as a position and length; null where it is not there.
const char* find_own_element(const char* list, size_t& length) {
  constexpr char kName[] = "/libvarve.so";
  constexpr size_t kNameLength = sizeof kName - 1;
  for (const char* at = list; *at;) {
    length = 0;
    while (at[length] && !is_separator(at[length])) ++length;
    if (length >= kNameLength && !std::memcmp(at + length - kNameLength, kName, kNameLength)) return at;
    at += length;
    while (is_separator(*at)) ++at;
  }
  return nullptr;
}

bool carries_session(const char* entry) { return !std::strcmp(entry, session_entry); }

bool carries_library(const char* entry) {
  size_t length = 0;
  return is_entry_of(entry, kPreloadVariable) && find_own_element(entry + sizeof kPreloadVariable, length);
}

struct Survey {
  size_t entries = 0;
  const char* preload = nullptr;  // the value of LD_PRELOAD
  bool has_library = false, has_session = false;
};

Survey survey(char* const* environment) {
  Survey found;
  for (; environment && *environment; ++environment, ++found.entries) {
    found.has_session |= carries_session(*environment);
    found.has_library |= carries_library(*environment);
    if (is_entry_of(*environment, kPreloadVariable)) found.preload = *environment + sizeof kPreloadVariable;
  }
  return found;
}

/// Removes the element at `at` and the separator beside it from a list, in place.
void cut_element(char* list, char* at, size_t length) {
  char* end = at + length;
  if (*end)
    ++end;
  else if (at > list)
    --at;
  std::memmove(at, end, std::strlen(end) + 1);
}

/// The file name of an element.
const char* name_in(const char* element, const char* end) {
  const char* name = element;
  for (const char* at = element; at < end; ++at)
    if (*at == '/') name = at + 1;
  return name;
}

/// The recorder puts the runtime of AddressSanitizer right before us where the program needs it; no other
/// program that does has us. What it starts is not to have the runtime. Returns where we are then.
const char* cut_runtime(char* list, const char* own) {
  char* at = list;
  for (char* next = list; next < own; ++next)
    if (is_separator(*next) && next + 1 < own) at = next + 1;
  if (at == own || !is_asan_runtime(name_in(at, own)) || takes_preloads(AT_FDCWD, "/proc/self/exe"))
    return own;
  const size_t before = std::strlen(list);
  cut_element(list, at, size_t(own - at) - 1);
  std::memset(list + std::strlen(list), 0, before - std::strlen(list));  // as /proc shows it
  return at;
}

}  // namespace

void learn_carried_environment() {
  char* preload = const_cast<char*>(find_variable(environ, kPreloadVariable));
  size_t length = 0;
  const char* own = preload ? find_own_element(preload, length) : nullptr;
  if (own && length < sizeof own_library) std::memcpy(own_library, own, length);
  if (own) own = cut_runtime(preload, own);
  const char* session = find_variable(environ, kSessionVariable);
  TextBuilder(session_entry, sizeof session_entry).add(kSessionVariable).add("=").add(session ? session : "");
}

bool carries_recording() { return *own_library; }

void drop_carried_environment() {
  own_library[0] = 0;
  char** kept = environ;
  for (char** entry = environ; entry && *entry; ++entry) {
    if (is_entry_of(*entry, kSessionVariable)) continue;
    if (carries_library(*entry)) {
      size_t length = 0;
      char* list = *entry + sizeof kPreloadVariable;
      const char* own = cut_runtime(list, find_own_element(list, length));
      cut_element(list, const_cast<char*>(own), length);
      if (!*list) continue;
    }
    *kept++ = *entry;
  }
  if (kept) *kept = nullptr;
}

namespace {

/// Without our two variables: an LD_PRELOAD that names others keeps those.
char** strip_environment(char* const* environment, void* memory) {
  Survey found = survey(environment);
  char** out = static_cast<char**>(memory);
  char* text = reinterpret_cast<char*>(out + found.entries + 1);
  size_t used = 0;
  for (; environment && *environment; ++environment) {
    if (is_entry_of(*environment, kSessionVariable)) continue;
    if (!carries_library(*environment)) {
      out[used++] = *environment;
      continue;
    }
    std::strcpy(text, *environment);
    char* list = text + sizeof kPreloadVariable;
    size_t length = 0;
    const char* own = find_own_element(list, length);
    cut_element(list, const_cast<char*>(own), length);
    if (!*list) continue;
    out[used++] = text;
    text += std::strlen(text) + 1;
  }
  out[used] = nullptr;
  return out;
}

/// An environment may name LD_PRELOAD more than once.
size_t stripped_bytes(char* const* environment) {
  size_t text = 0, entries = 1;
  for (; environment && *environment; ++environment, ++entries)
    if (carries_library(*environment)) text += std::strlen(*environment) + 1;
  return entries * sizeof(char*) + text;
}

}  // namespace

size_t carried_bytes(char* const* environment, Takes takes) {
  if (!carries_recording()) return 0;
  if (!can_read_strings(environment)) return 0;  // the kernel will say so
  Survey found = survey(environment);
  if (takes == Takes::kNo) return found.has_library || found.has_session ? stripped_bytes(environment) : 0;
  if (found.has_library && found.has_session) return 0;
  size_t preload = sizeof kPreloadVariable + std::strlen(own_library) + 2;
  if (found.preload) preload += std::strlen(found.preload);
  return (found.entries + 3) * sizeof(char*) + preload;
}

char** carry_environment(char* const* environment, Takes takes, void* memory, size_t bytes) {
  if (takes == Takes::kNo) return strip_environment(environment, memory);
  Survey found = survey(environment);
  char** out = static_cast<char**>(memory);
  char* text = reinterpret_cast<char*>(out + found.entries + 3);
  size_t used = 0;
  for (; environment && *environment; ++environment) {
    bool replaced = is_entry_of(*environment, kSessionVariable) ||
                    (!found.has_library && is_entry_of(*environment, kPreloadVariable));
    if (!replaced) out[used++] = *environment;
  }
  if (!found.has_library) {
    TextBuilder entry(text, size_t(static_cast<char*>(memory) + bytes - text));
    const char* theirs = found.preload ? found.preload : "";
    while (is_separator(*theirs)) ++theirs;
    const bool after = is_asan_runtime(name_in(theirs, theirs + std::strcspn(theirs, ": ")));
    entry.add(kPreloadVariable).add("=").add(after ? theirs : own_library);
    if (*theirs) entry.add(":").add(after ? own_library : theirs);
    out[used++] = text;
  }
  out[used++] = session_entry;
  out[used] = nullptr;
  return out;
}

}  // namespace varve::agent
