// SPDX-License-Identifier: MIT
// Where the symbols file and the code file are, and how they are read whole.
// Context: viewer.
#include "viewer/symbol/symbol_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "common/file_format.h"
#include "viewer/load/regular_file.h"
#include "viewer/load/replaced_file.h"

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

tl::expected<void, std::string> write_file(const std::string& path, std::span<const uint8_t> bytes) {
  load::ReplacedFile file(path);
  file.write(bytes);
  return file.finish();
}

/// Nothing if there is no such file. The error is a clause without a subject.
tl::expected<std::optional<std::vector<uint8_t>>, std::string> read_file(const std::string& path) {
  Descriptor file{load::open_regular_file(path, true)};
  if (file.fd < 0 && errno == ENOENT) return std::nullopt;
  struct stat info {};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0)
    return tl::unexpected(fmt::format("cannot be opened: {}", std::strerror(errno)));
  if (load::is_mostly_holes(info)) return tl::unexpected(std::string("is mostly holes"));
  std::vector<uint8_t> bytes(size_t(info.st_size));
  size_t have = 0;
  for (ssize_t got;
       have < bytes.size() && (got = ::read(file.fd, bytes.data() + have, bytes.size() - have)) > 0;)
    have += size_t(got);
  bytes.resize(have);
  return bytes;
}

}  // namespace

tl::expected<void, std::string> write_symbol_file(const load::Profile& profile, const SymbolTable& table) {
  const std::string directory = directory_of(profile);
  return write_file(directory + "/" + format::kSymbolsFile,
                    encode_symbols(profile, table, profile.session.id));
}

tl::expected<PartialSymbols, std::string> read_symbol_file(const load::Profile& profile) {
  const std::string directory = directory_of(profile);
  const std::string path = directory + "/" + format::kSymbolsFile;
  auto failure = [&](std::string_view why) {
    return tl::unexpected<std::string>(fmt::format("{} {}, so names are looked up anew", path, why));
  };
  const auto bytes = read_file(path);
  if (!bytes) return failure(bytes.error());
  if (!*bytes) {
    PartialSymbols none;
    none.missing.assign(profile.sites.size(), true);
    none.table.site_first.assign(profile.sites.size() + 1, 0);
    return none;
  }
  auto symbols = decode_symbols(**bytes, profile, profile.session.id);
  if (!symbols) return failure(symbols.error());
  return symbols;
}

tl::expected<void, std::string> write_code_file(const load::Profile& profile, const CodeTable& code) {
  const std::string directory = directory_of(profile);
  return write_file(directory + "/" + format::kCodeFile, encode_code(profile, code, profile.session.id));
}

tl::expected<CodeTable, std::string> read_code_file(const load::Profile& profile) {
  const std::string directory = directory_of(profile);
  const std::string path = directory + "/" + format::kCodeFile;
  auto failure = [&](std::string_view why) {
    return tl::unexpected<std::string>(
        fmt::format("{} {}, so code is read from the program files", path, why));
  };
  const auto bytes = read_file(path);
  if (!bytes) return failure(bytes.error());
  if (!*bytes) return CodeTable();
  auto code = decode_code(**bytes, profile, profile.session.id);
  if (!code) return failure(code.error());
  return code;
}

}  // namespace varve::symbol
