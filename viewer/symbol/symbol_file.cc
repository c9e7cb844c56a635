// SPDX-License-Identifier: MIT
// Where the symbols file is, and how it is replaced: written beside itself under a name of its own, then
// renamed. Context: viewer.
#include "viewer/symbol/symbol_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/file_format.h"
#include "viewer/symbol/elf_file.h"

namespace varve::symbol {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

/// A profile may have been opened by one of its agent files; the symbols stand beside that.
std::string directory_of(const load::Profile& profile) {
  struct stat info;
  bool file = ::stat(profile.directory.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  size_t slash = profile.directory.rfind('/');
  if (!file) return profile.directory;
  return slash == std::string::npos ? "." : profile.directory.substr(0, slash + 1);
}

/// Zeros if there is no session file: then any symbols file that was written without one matches.
SessionId session_of(const std::string& directory) {
  SessionId id{};
  Descriptor file{open_regular_file(directory + "/" + format::kSessionFile, true)};
  format::FileHeader header;
  if (file.fd >= 0 && ::pread(file.fd, &header, sizeof header, 0) == ssize_t(sizeof header))
    std::copy(std::begin(header.session_id), std::end(header.session_id), id.begin());
  return id;
}

bool write_all(int fd, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(size_t(written));
  }
  return true;
}

}  // namespace

tl::expected<void, std::string> write_symbol_file(const load::Profile& profile, const SymbolTable& table) {
  std::string directory = directory_of(profile);
  std::string path = directory + "/" + format::kSymbolsFile;
  std::string temporary = path + ".XXXXXX";
  auto failure = [&] {
    return tl::unexpected<std::string>(fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
  };
  std::vector<uint8_t> bytes = encode_symbols(profile, table, session_of(directory));
  Descriptor file{::mkostemp(temporary.data(), O_CLOEXEC)};
  if (file.fd < 0) return failure();
  if (write_all(file.fd, bytes) && ::rename(temporary.c_str(), path.c_str()) == 0) return {};
  auto error = failure();
  ::unlink(temporary.c_str());
  return error;
}

tl::expected<PartialSymbols, std::string> read_symbol_file(const load::Profile& profile) {
  std::string directory = directory_of(profile);
  std::string path = directory + "/" + format::kSymbolsFile;
  Descriptor file{open_regular_file(path, true)};
  if (file.fd < 0 && errno == ENOENT) {
    PartialSymbols none;
    none.missing.assign(profile.sites.size(), true);
    none.table.site_first.assign(profile.sites.size() + 1, 0);
    return none;
  }
  auto failure = [&](std::string_view why) {
    return tl::unexpected<std::string>(fmt::format("{} {}, so names are looked up anew", path, why));
  };
  struct stat info {};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0)
    return failure(fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::vector<uint8_t> bytes(size_t(info.st_size));
  size_t have = 0;
  for (ssize_t got;
       have < bytes.size() && (got = ::read(file.fd, bytes.data() + have, bytes.size() - have)) > 0;)
    have += size_t(got);
  bytes.resize(have);
  auto symbols = decode_symbols(bytes, profile, session_of(directory));
  if (!symbols) return failure(symbols.error());
  return symbols;
}

}  // namespace varve::symbol
