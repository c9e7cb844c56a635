// SPDX-License-Identifier: MIT
// The search order and the checks. A file of another build is worse than none, so nothing unchecked is used.
// Context: viewer, any thread.
#include "viewer/symbol/debug_files.h"

#include <elfutils/debuginfod.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <lzma.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "common/bytes.h"
#include "viewer/symbol/late_library.h"

namespace varve::symbol {
namespace {

// xz reaches 1:7000 on zeros; real MiniDebugInfo stays below 1:10 and 16 MB.
constexpr size_t kMaxMiniDebugInfo = size_t(256) << 20;
constexpr size_t kMaxMiniRatio = 64;
constexpr uint64_t kLzmaMemory = uint64_t(256) << 20;

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

uint32_t checksum_of(const ElfFile& file) {
  size_t size = 0;
  const char* raw = elf_rawfile(file.elf(), &size);
  return raw ? libdeflate_crc32(0, raw, size) : 0;
}

struct DebugLink {
  std::string name;
  uint32_t checksum = 0;
};

/// .gnu_debuglink: a file name, NUL, padding to four bytes, CRC-32 of that file.
std::optional<DebugLink> debug_link(const ElfFile& file) {
  const Section* section = file.section(".gnu_debuglink");
  if (!section) return {};
  try {
    ByteView view(file.contents(*section));
    std::string name(view.read_text());
    view.skip((4 - (name.size() + 1) % 4) % 4);
    if (name.empty() || name.find('/') != std::string::npos) return {};
    return DebugLink{name, view.read<uint32_t>()};
  } catch (const ParseError&) {
    return {};
  }
}

std::optional<ElfFile> open_with_build_id(const std::string& path, std::span<const uint8_t> build_id) {
  auto file = ElfFile::open(path);
  if (!file || !std::ranges::equal(file->build_id(), build_id)) return {};
  return std::move(*file);
}

std::optional<ElfFile> by_build_id(std::span<const uint8_t> build_id, const ResolveOptions& options) {
  if (build_id.size() < 2) return {};
  std::string name = hex(build_id);
  name = "/.build-id/" + name.substr(0, 2) + "/" + name.substr(2) + ".debug";
  for (const std::string& directory : options.debug_directories)
    for (const std::string& root : {options.sysroot + directory, directory})
      if (auto file = open_with_build_id(root + name, build_id)) return file;
  return {};
}

std::optional<ElfFile> by_debug_link(const ElfFile& file, const ResolveOptions& options) {
  auto link = debug_link(file);
  if (!link) return {};
  std::string directory = folder_of(file.path());
  std::vector<std::string> places{directory + "/" + link->name, directory + "/.debug/" + link->name};
  for (const std::string& root : options.debug_directories)
    places.push_back(root + directory + "/" + link->name);
  for (const std::string& place : places) {
    if (place == file.path()) continue;
    auto debug = ElfFile::open(place);
    if (!debug) continue;
    bool by_id = !file.build_id().empty() && !debug->build_id().empty();
    if (by_id ? debug->build_id() == file.build_id() : checksum_of(*debug) == link->checksum)
      return std::move(*debug);
  }
  return {};
}

/// The functions of libdebuginfod that are used, loaded so that varve runs where it is not installed.
struct DebuginfodLibrary {
  decltype(&debuginfod_begin) begin = nullptr;
  decltype(&debuginfod_end) end = nullptr;
  decltype(&debuginfod_find_debuginfo) find_debug = nullptr;
  decltype(&debuginfod_find_source) find_source = nullptr;
  decltype(&debuginfod_set_progressfn) set_progress = nullptr;
  decltype(&debuginfod_set_user_data) set_user_data = nullptr;
  decltype(&debuginfod_get_user_data) get_user_data = nullptr;

  static const DebuginfodLibrary& get() {
    static const DebuginfodLibrary library;
    return library;
  }
  explicit operator bool() const { return complete; }

 private:
  DebuginfodLibrary() {
    LateLibrary library("libdebuginfod.so.1");
    library.find("debuginfod_begin", begin);
    library.find("debuginfod_end", end);
    library.find("debuginfod_find_debuginfo", find_debug);
    library.find("debuginfod_find_source", find_source);
    library.find("debuginfod_set_progressfn", set_progress);
    library.find("debuginfod_set_user_data", set_user_data);
    library.find("debuginfod_get_user_data", get_user_data);
    complete = library.trouble().empty();
  }
  bool complete = false;
};

int stop_after_deadline(debuginfod_client* client, long, long) {
  auto* deadline =
      static_cast<std::chrono::steady_clock::time_point*>(DebuginfodLibrary::get().get_user_data(client));
  return std::chrono::steady_clock::now() > *deadline;
}

}  // namespace

Debuginfod::Clock::time_point Debuginfod::deadline() {
  std::lock_guard lock(mutex_);
  if (!deadline_) deadline_ = Clock::now() + budget_;
  return *deadline_;
}

std::nullopt_t Debuginfod::give_up(const char* reason) {
  std::lock_guard lock(mutex_);
  reason_ = reason;
  return std::nullopt;
}

std::optional<std::string> Debuginfod::find_debug_file(std::span<const uint8_t> build_id) {
  return ask([&](debuginfod_client* client, char** path) {
    return DebuginfodLibrary::get().find_debug(client, build_id.data(), int(build_id.size()), path);
  });
}

std::optional<std::string> Debuginfod::find_source(std::span<const uint8_t> build_id,
                                                   const std::string& file) {
  return ask([&](debuginfod_client* client, char** path) {
    return DebuginfodLibrary::get().find_source(client, build_id.data(), int(build_id.size()), file.c_str(),
                                                path);
  });
}

template <typename Find>
std::optional<std::string> Debuginfod::ask(Find find) {
  const auto& library = DebuginfodLibrary::get();
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (!library) return give_up("libdebuginfod is not installed");
  if (!servers || !*servers) return give_up("DEBUGINFOD_URLS names no server");
  Clock::time_point end = deadline();
  if (Clock::now() > end) return give_up("debuginfod took too long");
  std::unique_ptr<debuginfod_client, decltype(library.end)> client(library.begin(), library.end);
  if (!client) return {};
  library.set_user_data(client.get(), &end);
  library.set_progress(client.get(), stop_after_deadline);
  char* path = nullptr;
  int fd = find(client.get(), &path);
  std::unique_ptr<char, void (*)(void*)> owned(path, std::free);
  if (fd < 0) return Clock::now() > end ? give_up("debuginfod took too long") : std::nullopt;
  ::close(fd);
  return path ? std::optional<std::string>(path) : std::nullopt;
}

std::string Debuginfod::reason() const {
  std::lock_guard lock(mutex_);
  return reason_;
}

std::optional<ElfFile> find_debug_file(const ElfFile* file, std::span<const uint8_t> build_id,
                                       const ResolveOptions& options, Debuginfod* server) {
  if (auto found = by_build_id(build_id, options)) return found;
  if (file)
    if (auto found = by_debug_link(*file, options)) return found;
  if (!server || build_id.empty()) return {};
  auto path = server->find_debug_file(build_id);
  return path ? open_with_build_id(*path, build_id) : std::nullopt;
}

std::optional<ElfFile> mini_debug_info(const ElfFile& file) {
  const Section* section = file.section(".gnu_debugdata");
  if (!section) return {};
  std::span<const uint8_t> packed = file.contents(*section);
  size_t limit = std::min(kMaxMiniDebugInfo, packed.size() * kMaxMiniRatio);
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kLzmaMemory, 0) != LZMA_OK) return {};
  std::vector<uint8_t> image;
  stream.next_in = packed.data();
  stream.avail_in = packed.size();
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK && image.size() < limit) {
    size_t had = image.size();
    image.resize(std::min(limit, had ? had * 2 : packed.size() * 4 + 4096));
    stream.next_out = image.data() + had;
    stream.avail_out = image.size() - had;
    status = lzma_code(&stream, LZMA_FINISH);
    image.resize(image.size() - stream.avail_out);
  }
  lzma_end(&stream);
  if (status != LZMA_STREAM_END) return {};
  auto inner = ElfFile::from_memory(std::move(image));
  return inner ? std::optional<ElfFile>(std::move(*inner)) : std::nullopt;
}

}  // namespace varve::symbol
