// SPDX-License-Identifier: MIT
// See code_map.h.
// Context: viewer.
#include "viewer/record/observe/code_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "viewer/load/regular_file.h"

namespace varve::record::observe {
namespace {

/// A library may have taken the place of another one; so may a program, by exec.
constexpr Nanos kOld{2 * kNanosPerSecond.count};
constexpr Nanos kYoung{100 * kNanosPerMilli.count};  // what this does not have is not there
constexpr uint64_t kMostFrameBytes = uint64_t{64} << 20;
constexpr size_t kMostModules = 10'000;
constexpr size_t kMostMapBytes = size_t{16} << 20;
constexpr std::string_view kAgent = "libvarve.so", kDeleted = " (deleted)";

int open_file(const std::string& path, uint64_t inode, struct stat& facts) {
  const int descriptor = load::open_regular_file(path, true);
  if (descriptor < 0) return -1;
  // The device is not compared: file systems on others show different numbers in the two places.
  if (fstat(descriptor, &facts) == 0 && facts.st_ino == inode) return descriptor;
  close(descriptor);
  return -1;
}

std::string read_all(const std::string& path) {
  std::string text;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return text;
  constexpr size_t kStep = 64 * 1024;
  ssize_t got = 1;
  while (got > 0 && text.size() < kMostMapBytes) {
    const size_t before = text.size();
    text.resize(before + kStep);
    got = ::read(descriptor, text.data() + before, kStep);
    text.resize(before + size_t(std::max<ssize_t>(got, 0)));
  }
  close(descriptor);
  return text;
}

/// Takes the next word off the text.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

bool parse(std::string_view text, int base, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

/// As its own name space has the path, if it is not the same here.
uint32_t CodeFiles::open(pid_t process, const std::string& path, uint64_t inode) {
  if (!path.starts_with('/') || modules_.size() >= kMostModules) return kNone;
  struct stat facts {};
  int descriptor = open_file(path, inode, facts);
  if (descriptor < 0) descriptor = open_file(fmt::format("/proc/{}/root{}", process, path), inode, facts);
  if (descriptor < 0) return kNone;
  const Key key{facts.st_dev, facts.st_ino, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec,
                uint64_t(facts.st_size)};
  const auto [at, fresh] = known_.try_emplace(key, uint32_t(modules_.size()));
  if (fresh) {
    SeenModule module;
    module.path = path;
    module.is_agent = path.substr(path.rfind('/') + 1) == kAgent;
    module.file = std::make_unique<CodeFile>(descriptor, std::min(kMostFrameBytes, bytes_left_));
    bytes_left_ -= module.file->bytes();
    modules_.push_back(std::move(module));
  }
  close(descriptor);
  return at->second;
}

/// "BEGIN-END PERMISSIONS OFFSET DEVICE INODE     PATH"
void CodeMap::add_line(std::string_view line) {
  const std::string_view range = next_word(line), permissions = next_word(line);
  if (permissions.size() < 3 || permissions[2] != 'x') return;
  Mapping mapping{};
  const std::string_view offset = next_word(line);
  next_word(line);
  const size_t dash = std::min(range.find('-'), range.size());
  if (!parse(range.substr(0, dash), 16, mapping.begin) ||
      !parse(range.substr(std::min(dash + 1, range.size())), 16, mapping.end) ||
      !parse(offset, 16, mapping.offset) || !parse(next_word(line), 10, mapping.inode))
    return;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (line.ends_with(kDeleted)) line.remove_suffix(kDeleted.size());
  mapping.path = line;
  mappings_.push_back(std::move(mapping));
}

void CodeMap::read(Nanos now) {
  read_at_ = now;
  mappings_.clear();
  const std::string text = read_all(fmt::format("/proc/{}/maps", process_));
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    add_line(line);
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
}

CodeMap::Mapping* CodeMap::at(uint64_t address) {
  const auto after = std::ranges::upper_bound(mappings_, address, {}, &Mapping::begin);
  if (after == mappings_.begin()) return nullptr;
  Mapping& mapping = *std::prev(after);
  return address < mapping.end ? &mapping : nullptr;
}

const CodeMap::Place* CodeMap::find(uint64_t address, CodeFiles& files, Nanos now, bool certain) {
  if (read_at_ == Nanos{} || now - read_at_ > kOld) read(now);
  Mapping* mapping = at(address);
  if (!mapping && now - read_at_ > (certain ? Nanos{} : kYoung)) {
    read(now);
    mapping = at(address);
  }
  if (!mapping) return nullptr;
  if (!mapping->opened) {
    mapping->opened = true;
    mapping->place.module = files.open(process_, mapping->path, mapping->inode);
    if (mapping->place.module != CodeFiles::kNone)
      mapping->place.bias =
          files.row(mapping->place.module)
              .file->bias_of(mapping->begin, mapping->offset, mapping->end - mapping->begin);
  }
  return &mapping->place;
}

}  // namespace varve::record::observe
