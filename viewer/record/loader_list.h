// SPDX-License-Identifier: MIT
// LoaderList: what the dynamic loader says about a program's libraries, as ldd shows it. The loader is asked
// to list, so nothing of the program runs; only a loader that belongs to the system is asked. Context:
// viewer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace varve::record {

struct LoaderList {
  struct Library {
    std::string name;  // as needed: "libasan.so.8"
    std::string path;  // where it was found; empty: not found
  };
  std::vector<Library> libraries;
  struct WrongVersion {
    std::string version;  // "GLIBC_2.38"
    std::string library;  // that does not have it
    std::string wanted_by;
  };
  std::vector<WrongVersion> wrong_versions;
  std::vector<std::string> not_preloaded;  // entries of LD_PRELOAD that cannot be

  const Library* find(std::string_view prefix) const;
};

/// Asks `interpreter` to list the libraries of `program` with LD_PRELOAD set to `preload`; waits two seconds
/// at most. Nothing: the loader is not one to trust, or it did not answer; errno is then 0, or what the
/// kernel said where no process could be made.
std::optional<LoaderList> ask_loader(const std::string& interpreter, const std::string& program,
                                     const std::string& preload);

/// The parser alone: `output` is stdout and stderr together.
LoaderList parse_loader_list(std::string_view output);

}  // namespace varve::record
