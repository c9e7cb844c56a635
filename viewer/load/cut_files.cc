// SPDX-License-Identifier: MIT
// Lengths of files as noted, against those there are. See cut_files.h.
// Context: viewer.
#include "viewer/load/cut_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "common/session_keys.h"

namespace varve::load {
namespace {

/// A name from a session file is anybody's, and a file may have come since the source listed its own.
bool may_open(const std::vector<std::string>& listed, const std::string& name) {
  return std::ranges::binary_search(listed, name) ||
         (name.ends_with(format::kAgentSuffix) && name.find('/') == std::string::npos);
}

/// By name, each once.
void put_in_order(std::vector<FileLength>& lengths) {
  const auto same = [](const FileLength& a, const FileLength& b) { return a.name == b.name; };
  std::ranges::stable_sort(lengths, {}, &FileLength::name);
  lengths.erase(std::unique(lengths.begin(), lengths.end(), same), lengths.end());
}

void add_missing(const std::vector<std::string>& missing, std::vector<Damage>& damages) {
  if (missing.empty()) return;
  const size_t others = missing.size() - 1;
  std::string clause(kMissing);
  if (others == 1) clause += ", and so is another file of the run";
  if (others > 1) clause += fmt::format(", and so are {} other files of the run", others);
  damages.push_back({missing.front(), std::move(clause), 0});
}

}  // namespace

void find_cut_files(const FileSource& source, const Session& session, std::vector<FileLength> lengths,
                    std::vector<Damage>& damages) {
  const uint64_t noted = session.number(session_key::kFileLengths);
  if (noted > lengths.size())
    damages.push_back(
        {format::kSessionFile,
         fmt::format("has lost its end: it has {} of {} lengths of files", lengths.size(), noted), 0});
  std::set<std::string, std::less<>> damaged;
  for (const Damage& damage : damages) damaged.insert(damage.file);
  put_in_order(lengths);
  const std::vector<std::string> listed = source.names();
  std::vector<std::string> missing;
  for (const auto& [name, bytes] : lengths) {
    if (damaged.contains(name)) continue;
    const auto file = may_open(listed, name) ? source.open(name) : tl::unexpected(std::string());
    if (!file)
      missing.push_back(name);
    else if ((*file)->size() < bytes)
      damages.push_back(
          {name, fmt::format("is cut off: {} of {} bytes are there", (*file)->size(), bytes), 0});
  }
  add_missing(missing, damages);
}

}  // namespace varve::load
