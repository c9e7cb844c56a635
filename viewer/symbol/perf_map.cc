// SPDX-License-Identifier: MIT
// Parsing and the resolution of overlaps, in n log n of the number of lines.
// Context: viewer, any thread.
#include "viewer/symbol/perf_map.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>

#include "viewer/load/regular_file.h"
#include "viewer/symbol/demangle.h"

namespace varve::symbol {
namespace {

constexpr off_t kMaxMap = off_t(1) << 30;

std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  size_t end = std::min(line.find_first_of(" \t"), line.size());
  std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

std::optional<uint64_t> hexadecimal(std::string_view word) {
  if (word.starts_with("0x") || word.starts_with("0X")) word.remove_prefix(2);
  uint64_t value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
  bool whole = error == std::errc() && end == word.data() + word.size() && !word.empty();
  return whole ? std::optional(value) : std::nullopt;
}

std::optional<JitSymbol> parse_line(std::string_view line) {
  auto start = hexadecimal(take_word(line));
  auto size = start ? hexadecimal(take_word(line)) : std::nullopt;
  if (!size || *size == 0 || *start > UINT64_MAX - *size) return {};
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  if (line.empty()) return {};
  return JitSymbol{*start, *start + *size, line.substr(0, kMaxLinkageName)};
}

/// A sweep over all starts and ends: at each place the latest line that is open there has it.
std::vector<JitSymbol> latest_wins(const std::vector<JitSymbol>& lines) {
  struct Edge {
    uint64_t at;
    uint32_t line;
    bool opens;
  };
  std::vector<Edge> edges;
  edges.reserve(lines.size() * 2);
  for (uint32_t i = 0; i < lines.size(); ++i) {
    edges.push_back({lines[i].start, i, true});
    edges.push_back({lines[i].end, i, false});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  std::vector<JitSymbol> result;
  std::set<uint32_t> open;
  uint64_t from = 0;
  for (size_t i = 0; i < edges.size();) {
    uint64_t at = edges[i].at;
    if (!open.empty() && from < at) {
      const JitSymbol& owner = lines[*open.rbegin()];
      bool goes_on =
          !result.empty() && result.back().end == from && result.back().name.data() == owner.name.data();
      if (goes_on)
        result.back().end = at;
      else
        result.push_back({from, at, owner.name});
    }
    for (; i < edges.size() && edges[i].at == at; ++i) {
      if (edges[i].opens)
        open.insert(edges[i].line);
      else
        open.erase(edges[i].line);
    }
    from = at;
  }
  return result;
}

/// Cuts ":NUMBER" off the end.
std::optional<uint32_t> take_number(std::string_view& text) {
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return {};
  uint32_t value = 0;
  auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  text = text.substr(0, colon);
  return value;
}

/// The blank before the file of a function: folders may have blanks, too, but what they stand in shows where
/// it begins.
size_t blank_before_file(std::string_view text) {
  size_t first = std::string_view::npos;
  for (const std::string_view start : {" /", " file://", " node:"}) first = std::min(first, text.find(start));
  return first == std::string_view::npos ? text.rfind(' ') : first;
}

}  // namespace

PerfMap::PerfMap(std::string text) : text_(text.begin(), text.end()) {
  std::vector<JitSymbol> lines;
  std::string_view rest(text_.data(), text_.size());
  while (!rest.empty() && lines.size() < UINT32_MAX) {
    size_t end = std::min(rest.find('\n'), rest.size());
    if (auto symbol = parse_line(rest.substr(0, end))) lines.push_back(*symbol);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  symbols_ = latest_wins(lines);
}

const JitSymbol* PerfMap::find(Address address) const {
  auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address.value,
                                [](uint64_t value, const JitSymbol& symbol) { return value < symbol.start; });
  if (after == symbols_.begin() || address.value >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

tl::expected<PerfMap, std::string> read_perf_map(const std::string& path, uid_t owner) {
  auto failure = [&](std::string_view why) {
    return tl::unexpected<std::string>(fmt::format("{} is not used: {}", path, why));
  };
  int fd = load::open_regular_file(path, false);
  if (fd < 0) return failure(errno == EINVAL ? "it is not a regular file" : std::strerror(errno));
  struct Closer {
    int fd;
    ~Closer() { ::close(fd); }
  } closer{fd};
  struct stat info {};
  if (::fstat(fd, &info) != 0) return failure(std::strerror(errno));
  if (info.st_uid != owner && info.st_uid != 0) return failure("it belongs to another user");
  if (info.st_size > kMaxMap) return failure("it is larger than 1 GB");
  if (load::is_mostly_holes(info)) return failure("it is mostly holes");
  std::string text(size_t(info.st_size), '\0');
  size_t have = 0;
  for (ssize_t got; have < text.size() && (got = ::read(fd, text.data() + have, text.size() - have)) > 0;)
    have += size_t(got);
  text.resize(have);
  return PerfMap(std::move(text));
}

JitName parse_jit_name(std::string_view name) {
  // CPython: "py::function:/path/file.py".
  if (name.starts_with("py::")) {
    size_t colon = name.find(':', 4);
    if (colon == std::string_view::npos) return {std::string(name), "", 0};
    return {std::string(name.substr(0, colon)), std::string(name.substr(colon + 1)), 0};
  }
  // V8: "JS:*function file:///path/app.js:12:5"; a function without a name leaves "JS:* /path:12:5".
  std::string_view rest = name;
  auto column = take_number(rest);
  if (!column) return {std::string(name), "", 0};
  auto line = take_number(rest);
  size_t space = blank_before_file(rest);
  if (!line || space == std::string_view::npos) return {std::string(name), "", 0};
  std::string_view file = rest.substr(space + 1);
  if (file.starts_with("file://")) file.remove_prefix(7);
  std::string function(rest.substr(0, space));
  if (function.ends_with('*') || function.ends_with('~') || function.ends_with('^') ||
      function.ends_with(':'))
    function += fmt::format("(anonymous {}:{})", file.substr(file.rfind('/') + 1), *line);
  return {function, std::string(file), *line};
}

}  // namespace varve::symbol
