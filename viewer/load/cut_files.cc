// SPDX-License-Identifier: MIT
// Lengths of files as noted, against those there are. See cut_files.h.
// Context: viewer.
#include "viewer/load/cut_files.h"

#include <fmt/format.h>

#include <algorithm>

namespace varve::load {
namespace {

/// What is wrong with a file of which there should be `length.bytes`, as a clause; empty: nothing.
std::string flaw(const FileSource& source, const std::vector<std::string>& names, const FileLength& length) {
  // Only what the profile's directory holds: a name from a session file is anybody's.
  if (!std::ranges::binary_search(names, length.name)) return "is missing";
  const auto file = source.open(length.name);
  if (!file || (*file)->size() >= length.bytes) return "";  // one that cannot be opened is told elsewhere
  return fmt::format("is cut off: {} of {} bytes are there", (*file)->size(), length.bytes);
}

}  // namespace

void find_cut_files(const FileSource& source, std::vector<FileLength> lengths, std::vector<Damage>& damages) {
  const std::vector<std::string> names = source.names();
  std::ranges::stable_sort(lengths, {}, &FileLength::name);
  const auto same = [](const FileLength& a, const FileLength& b) { return a.name == b.name; };
  lengths.erase(std::unique(lengths.begin(), lengths.end(), same), lengths.end());
  for (const FileLength& length : lengths)
    if (std::string clause = flaw(source, names, length); !clause.empty())
      damages.push_back({length.name, std::move(clause), 0});
}

}  // namespace varve::load
