// SPDX-License-Identifier: MIT
// See object_names.h.
// Context: viewer.
#include "viewer/analyze/object_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viewer/analyze/filter.h"
#include "viewer/analyze/site_keys.h"

namespace varve::analyze {
namespace {

using format::ObjectKind;

/// What the number of an object is.
enum class Identity : uint8_t { kNone, kAddress, kNumber, kTid, kPid, kDescriptor };

struct KindWords {
  std::string_view name, many;
  Identity identity;
};
constexpr std::array<KindWords, size_t(ObjectKind::kCount)> kKinds{{
    {"[thread start]", "thread starts", Identity::kNone},
    {"Mutex", "mutexes", Identity::kAddress},
    {"RwLock", "rwlocks", Identity::kAddress},
    {"Condition", "conditions", Identity::kAddress},
    {"Semaphore", "semaphores", Identity::kAddress},
    {"Barrier", "barriers", Identity::kAddress},
    {"Thread", "threads", Identity::kTid},
    {"Child", "children", Identity::kPid},
    {"Sleep", "sleeps", Identity::kNone},
    {"Poll", "polls", Identity::kDescriptor},
    {"Stream", "streams", Identity::kDescriptor},
    {"Futex", "futexes", Identity::kAddress},
    {"Once", "onces", Identity::kAddress},
    {"Signal", "signals", Identity::kNone},
    {"Queue", "queues", Identity::kNumber},
    {"Semaphores", "semaphore sets", Identity::kNumber},
    {"File lock", "file locks", Identity::kDescriptor},
}};
static_assert(!kKinds.back().name.empty());

/// How names of sockets begin.
constexpr std::string_view kSocket = "socket ";

std::string joined_thread(const load::Profile& profile, const ObjectKey& object) {
  const bool is_tid = object.address <= INT32_MAX;
  const ThreadId id =
      is_tid ? profile.thread_with(object.process, int32_t(object.address)) : ThreadId::none();
  return id.valid() ? fmt::format("Thread {} ({})", profile.threads[id.index()].name, object.address)
                    : fmt::format("Thread {}", object.address);
}

/// What the kernel calls it, with a word before what is no path.
std::string descriptor_words(const load::Profile& profile, const ObjectKey& object, std::string_view kind) {
  if (object.name == 0 && object.address == format::kNoDescriptor) return std::string(kind);
  const std::string& name = profile.waits.names[object.name];
  if (name.empty()) return fmt::format("{} fd {}", kind, object.address);
  if (object.kind != ObjectKind::kDescriptor) return fmt::format("{} {}", kind, name);
  if (name.starts_with(kSocket)) return fmt::format("Socket {}", name.substr(kSocket.size()));
  if (load::is_pipe_name(name))
    return fmt::format("Pipe {}{}", name.substr(load::kPipeName.size()),
                       object.address & format::kToSend ? " (full)" : "");
  return fmt::format("{} {}", name.starts_with("/dev/pts/") ? "Terminal" : kind, name);
}

/// "0x5581d0 (tiles.cc:41)": where it was made, if a call was seen that did.
std::string place_of_making(const Named& source, const ObjectKey& object) {
  const std::vector<load::Creation>& creations = source.profile.waits.creations;
  if (object.creation == 0) return fmt::format("{:#x}", object.address);
  const std::string maker =
      short_caller_words(source, caller_of(source, creations[object.creation - 1].path));
  return fmt::format("{:#x} ({})", object.address, maker);
}

/// The variable that it is, or that it is a part of; empty: it is in none.
std::string variable_words(const Named& source, const ObjectKey& object) {
  const SiteId site = source.profile.waits.place_of(object.process, object.address);
  if (!site.valid()) return "";
  const symbol::Function& variable =
      source.symbols.functions[source.symbols.frames(site).front().function.index()];
  return std::string(source.symbols.strings.text(variable.short_name));
}

/// By the variable; else by the number and where it was made. " #2" is the second of its address.
std::string address_words(const Named& source, const ObjectKey& object) {
  std::string words = variable_words(source, object);
  if (words.empty()) words = place_of_making(source, object);
  const uint32_t life = object.creation == 0 ? 0 : source.profile.waits.creations[object.creation - 1].life;
  return life > 1 ? fmt::format("{} #{}", words, life) : words;
}

}  // namespace

bool is_library(std::string_view module, std::string_view name) {
  constexpr std::string_view kNames[] = {"std::", "__gthread", "__gnu_cxx::", "boost::"};
  constexpr std::string_view kModules[] = {"libstdc++.so", "libc++.so", "libc.so", "libm.so", "libpthread"};
  const auto starts = [](std::string_view text) {
    return [text](std::string_view start) { return text.starts_with(start); };
  };
  return name.ends_with("@plt") || std::ranges::any_of(kNames, starts(name)) ||
         std::ranges::any_of(kModules, starts(module));
}

std::string_view kind_name(ObjectKind kind) {
  return kKinds[kind < ObjectKind::kCount ? size_t(kind) : 0].name;
}

std::string_view kind_of_many(const load::Profile& profile, const ObjectKey& object) {
  const std::string& name = profile.waits.names[object.name];
  if (object.kind == ObjectKind::kDescriptor) {
    if (load::is_file_name(name)) return "files";
    if (name.starts_with(kSocket)) return "sockets";
    if (load::is_pipe_name(name)) return "pipes";
  }
  return kKinds[object.kind < ObjectKind::kCount ? size_t(object.kind) : 0].many;
}

std::string object_words(const Named& source, const ObjectKey& object) {
  const load::Profile& profile = source.profile;
  const KindWords& words = kKinds[object.kind < ObjectKind::kCount ? size_t(object.kind) : 0];
  switch (words.identity) {
    case Identity::kTid:
      return joined_thread(profile, object);
    case Identity::kAddress:
      return fmt::format("{} {}", words.name, address_words(source, object));
    case Identity::kNumber:
      return fmt::format("{} {}{}", words.name, uint32_t(object.address),
                         object.address & format::kToSend ? ", to send" : "");
    case Identity::kPid:
      return int32_t(object.address) > 0 ? fmt::format("Child process {}", object.address)
                                         : "Child process, any";
    case Identity::kDescriptor:
      return descriptor_words(profile, object, words.name);
    case Identity::kNone:
      break;
  }
  return std::string(words.name);
}

Caller caller_of(const Named& source, PathId path, bool inlines) {
  Caller nearest;
  for (PathId at = path; at.valid() && at.index() != 0; at = source.profile.paths[at.index()].parent) {
    const SiteId site = source.profile.paths[at.index()].site;
    if (source.profile.sites[site.index()].special()) continue;
    for (const symbol::Frame& frame : counted_frames(source.symbols, site, inlines)) {
      const Caller caller{frame.function, source.symbols.strings.text(frame.file), frame.line};
      if (!nearest.function.valid()) nearest = caller;
      const std::string_view name =
          source.symbols.strings.text(source.symbols.functions[frame.function.index()].name);
      const std::string_view module = module_name(source.profile, source.profile.sites[site.index()].module);
      if (!is_library(module, name)) return caller;
    }
  }
  return nearest;
}

std::string short_caller_words(const Named& source, const Caller& caller) {
  if (!caller.function.valid()) return "";
  const std::string_view name =
      source.symbols.strings.text(source.symbols.functions[caller.function.index()].short_name);
  if (caller.line == 0) return std::string(name);
  return fmt::format("{}:{}", caller.file.substr(caller.file.rfind('/') + 1), caller.line);
}

std::string caller_words(const Named& source, const Caller& caller) {
  const std::string words = short_caller_words(source, caller);
  if (!caller.function.valid() || caller.line == 0) return words;
  const symbol::Function& function = source.symbols.functions[caller.function.index()];
  return fmt::format("{} ({})", words, source.symbols.strings.text(function.short_name));
}

}  // namespace varve::analyze
