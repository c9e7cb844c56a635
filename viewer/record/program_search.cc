// SPDX-License-Identifier: MIT
// PATH, "#!" and env. See program_search.h.
// Context: viewer.
#include "viewer/record/program_search.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "viewer/record/elf_facts.h"
#include "viewer/record/host_facts.h"

namespace varve::record {
namespace {

constexpr size_t kShebangBytes = 256;  // BINPRM_BUF_SIZE of the kernel
constexpr size_t kLongestChain = 5;    // the kernel follows four scripts
constexpr char kDefaultPath[] = "/bin:/usr/bin";

bool is_runnable(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

/// Why a file that was named outright cannot be run.
SearchError why_not(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    int error = errno;
    if (error == ENOENT || error == ENOTDIR)
      return {127, fmt::format("'{}' does not exist", path), "check the spelling"};
    return {126, fmt::format("'{}' cannot be looked at: {}", path, std::strerror(error)),
            "check the permissions of the directories above it"};
  }
  if (S_ISDIR(status.st_mode))
    return {126, fmt::format("'{}' is a directory", path), "name the program in it"};
  if (!S_ISREG(status.st_mode)) return {126, fmt::format("'{}' is no plain file", path), "name a program"};
  return {126, fmt::format("'{}' is not executable", path),
          fmt::format("chmod +x {}, or name its interpreter: varve record INTERPRETER {}", path, path)};
}

tl::expected<std::string, SearchError> in_path(const std::string& name, const char* path) {
  std::string_view rest = path ? path : kDefaultPath;
  std::string not_runnable;
  for (;;) {
    size_t end = rest.find(':');
    std::string folder(rest.substr(0, end));
    std::string candidate = folder.empty() ? "./" + name : folder + "/" + name;
    if (is_runnable(candidate)) return candidate;
    struct stat status;
    if (not_runnable.empty() && stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode))
      not_runnable = candidate;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (!not_runnable.empty()) return tl::unexpected(why_not(not_runnable));
  bool here = is_runnable("./" + name);
  return tl::unexpected(SearchError{127, fmt::format("'{}' is not found in PATH", name),
                                    here ? fmt::format("the one in this directory is ./{}", name)
                                         : "check the spelling, or give its path"});
}

tl::expected<std::string, SearchError> locate(const std::string& name, const char* path) {
  if (name.empty()) return tl::unexpected(SearchError{127, "the command is empty", "name a program"});
  if (name.find('/') == std::string::npos) return in_path(name, path);
  if (is_runnable(name)) return name;
  return tl::unexpected(why_not(name));
}

/// execvp gives a text without "#!" to the shell; a binary that no one knows is an error of exec.
bool looks_like_text(std::string_view head) { return head.find('\0') == std::string_view::npos; }

SearchError missing_interpreter(const std::string& script, const std::string& interpreter,
                                const SearchError& why) {
  bool carriage_return = !interpreter.empty() && interpreter.back() == '\r';
  if (carriage_return)
    return {126, fmt::format("the lines of '{}' end with CR LF, so its interpreter is not found", script),
            fmt::format("convert it: sed -i 's/\\r$//' {}", script)};
  return {126, fmt::format("the interpreter of '{}' cannot be run: {}", script, why.sentence), why.remedy};
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; (at = text.find_first_not_of(" \t", at)) != std::string_view::npos;) {
    size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace

std::vector<std::string> shebang_words(std::string_view head) {
  if (!head.starts_with("#!")) return {};
  std::string_view line =
      head.substr(2, head.find('\n') == std::string_view::npos ? head.size() : head.find('\n') - 2);
  size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  line = line.substr(first, line.find_last_not_of(" \t") - first + 1);
  size_t gap = line.find_first_of(" \t");
  if (gap == std::string_view::npos) return {std::string(line)};
  std::string_view argument = line.substr(line.find_first_not_of(" \t", gap));
  return {std::string(line.substr(0, gap)), std::string(argument)};
}

std::string env_command(std::string_view argument, bool& clears) {
  // Without -S the kernel's single argument is one word of env's, spaces and all.
  bool splits = argument.starts_with("-S") || argument.starts_with("--split-string=");
  if (!splits) return argument.starts_with("-") ? "" : std::string(argument);
  argument.remove_prefix(argument.starts_with("-S") ? 2 : sizeof "--split-string=" - 1);
  std::vector<std::string> words = split_words(argument);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-i" || word == "-" || word == "--ignore-environment")
      clears = true;
    else if (word == "-u" || word == "-C")
      ++i;
    else if (!word.starts_with("-") && word.find('=') == std::string::npos)
      return word;
  }
  return "";
}

tl::expected<FoundProgram, SearchError> find_program(const std::string& command, const char* path) {
  auto first = locate(command, path);
  if (!first) return tl::unexpected(first.error());
  FoundProgram found;
  found.chain.push_back(*first);
  while (found.chain.size() <= kLongestChain) {
    std::string script = found.file();
    if (is_elf(script) || access(script.c_str(), R_OK) != 0) return found;  // unreadable: exec will know
    std::string head = small_file(script, kShebangBytes);
    std::vector<std::string> words = shebang_words(head);
    if (words.empty() && (found.chain.size() > 1 || !looks_like_text(head))) return found;
    std::string interpreter = words.empty() ? "/bin/sh" : words[0];
    auto located =
        locate(interpreter.find('/') == std::string::npos ? "./" + interpreter : interpreter, path);
    if (!located) return tl::unexpected(missing_interpreter(script, interpreter, located.error()));
    found.chain.push_back(*located);
    if (words.size() < 2 || base_of(interpreter) != "env") continue;
    std::string name = env_command(words[1], found.clears_environment);
    if (name.empty()) continue;
    auto named = locate(name, path);
    if (!named) return tl::unexpected(missing_interpreter(script, name, named.error()));
    found.chain.push_back(*named);
  }
  return tl::unexpected(SearchError{126, fmt::format("'{}' is a script of a script of a script", command),
                                    "name the last interpreter in the first line"});
}

}  // namespace varve::record
