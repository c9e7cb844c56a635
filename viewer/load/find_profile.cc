// SPDX-License-Identifier: MIT
// The newest profile in a directory, for commands that were given none.
// Context: viewer.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "viewer/load/chunk_reader.h"
#include "viewer/load/load.h"

namespace varve::load {
namespace {

namespace fs = std::filesystem;

/// Nanoseconds since the epoch at which the profile in `directory` was begun; none where there is no profile.
std::optional<uint64_t> begun(const std::string& directory) {
  auto source = DirectorySource::make(directory);
  if (!source) return std::nullopt;
  std::optional<uint64_t> earliest;
  for (const std::string& name : (*source)->names()) {
    bool session = name == format::kSessionFile;
    if (!session && !name.ends_with(format::kAgentSuffix)) continue;
    auto file = (*source)->open(name);
    if (!file) continue;
    auto header = read_file_header(**file, session ? format::FileKind::kSession : format::FileKind::kAgent);
    if (header) earliest = std::min(earliest.value_or(UINT64_MAX), header->start_realtime_ns);
  }
  return earliest;
}

}  // namespace

tl::expected<std::string, std::string> find_newest_profile(const std::string& directory) {
  std::error_code error;
  std::optional<std::pair<uint64_t, std::string>> newest;
  auto consider = [&](const std::string& path) {
    auto time = begun(path);
    if (time) newest = std::max(newest, std::optional(std::pair(*time, path)));
  };
  consider(directory);
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    std::error_code ignored;
    if (entry.is_directory(ignored))
      consider(directory == "." ? entry.path().filename().string() : entry.path().string());
  }
  if (newest) return newest->second;
  return tl::unexpected("there is no profile in " + directory +
                        ": name one, or record one with 'varve record COMMAND'");
}

}  // namespace varve::load
