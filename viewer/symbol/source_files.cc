// SPDX-License-Identifier: MIT
// Only regular files of a sane size are read: paths come from a stranger's debug information.
// Context: viewer, any thread.
#include "viewer/symbol/source_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "viewer/load/regular_file.h"
#include "viewer/symbol/debug_files.h"
#include "viewer/symbol/elf_file.h"
#include "viewer/symbol/module_file.h"

namespace varve::symbol {
namespace {

constexpr off_t kMaxSource = 64 << 20;

Nanos modified(const struct stat& info) {
  return {uint64_t(info.st_mtim.tv_sec) * kNanosPerSecond.count + uint64_t(info.st_mtim.tv_nsec)};
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

SourceText read(const std::string& path) {
  SourceText source;
  const int fd = load::open_regular_file(path, true);
  if (fd < 0) return source;
  struct stat info {};
  if (::fstat(fd, &info) == 0 && info.st_size <= kMaxSource) {
    std::string text(size_t(info.st_size), '\0');
    const ssize_t got = ::read(fd, text.data(), text.size());
    text.resize(got > 0 ? size_t(got) : 0);
    source = {got >= 0, path, split_lines(text), modified(info)};
  }
  ::close(fd);
  return source;
}

}  // namespace

std::string mapped_path(std::string_view recorded, const SourceOptions& options) {
  for (const auto& [from, to] : options.paths) {
    std::string_view prefix = from;
    if (prefix.ends_with('/')) prefix.remove_suffix(1);
    if (!recorded.starts_with(prefix)) continue;
    const std::string_view rest = recorded.substr(prefix.size());
    if (rest.empty() || rest.starts_with('/'))
      return (to.ends_with('/') ? to.substr(0, to.size() - 1) : to) + std::string(rest);
  }
  return std::string(recorded);
}

SourceText read_source(std::string_view recorded, const SourceOptions& options,
                       std::span<const uint8_t> build_id, Debuginfod* server) {
  if (recorded.empty()) return {};
  const std::string path = mapped_path(recorded, options);
  SourceText source = read(path);
  if (!source.found && !path.starts_with('/')) source = read(options.directory + "/" + path);
  if (source.found || server == nullptr) return source;
  const auto fetched = server->find_source(build_id, std::string(recorded));
  if (fetched) source = read(*fetched);
  source.modified = {};  // of the right build, whenever it came
  return source;
}

Nanos built_before(const load::Profile& profile, ModuleId id, const std::string& sysroot) {
  const auto file = ElfFile::open(sysroot + profile.modules[id.index()].path);
  const bool ran = file && changed_words(*file, profile, id).empty();
  return ran ? file->modified() : profile.session.start_realtime;
}

}  // namespace varve::symbol
