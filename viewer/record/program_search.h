// SPDX-License-Identifier: MIT
// Program search: which file the kernel will run for a command. Follows PATH as execvp does, then "#!" lines
// as the kernel does, and "#!/usr/bin/env NAME" as env does. Not a judgement of the file it ends at: that is
// preflight.h. Context: viewer.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace varve::record {

/// A sentence, what to do about it, and the exit code that shells use: 127 not found, 126 found but not to be
/// run.
struct SearchError {
  int exit_code;
  std::string sentence;
  std::string remedy;
};

/// The files of a command: a script, its interpreter, and so on; the last one is no script. Never empty.
struct FoundProgram {
  std::vector<std::string> chain;
  bool clears_environment = false;  // "env -i" stands in the chain: the agent would be lost

  const std::string& file() const { return chain.back(); }
};

/// `path` is the PATH to search; null: the system's default one.
tl::expected<FoundProgram, SearchError> find_program(const std::string& command, const char* path);

/// The words of a "#!" line: interpreter and at most one argument. Empty if `head` does not begin with one.
std::vector<std::string> shebang_words(std::string_view head);

/// The name that "env ARGUMENT" runs; empty if there is none. `clears` becomes true with -i.
std::string env_command(std::string_view argument, bool& clears);

/// What stands behind the last slash of a path: all of one without any.
constexpr std::string_view base_of(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0
}

}  // namespace varve::record
