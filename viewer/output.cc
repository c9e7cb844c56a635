// SPDX-License-Identifier: MIT
// Writes text out, through a pager where it helps.
// Context: viewer.
#include "viewer/output.h"

#include <fmt/format.h>
#include <langinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "viewer/terminal_size.h"

namespace varve {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string pager_command() {
  for (const char* name : {"VARVE_PAGER", "PAGER"}) {
    if (std::getenv(name) != nullptr) return environment(name);
  }
  return "less -FRX";
}

tl::expected<void, std::string> write_to(std::FILE* file, std::string_view text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  if (written || errno == EPIPE) return {};
  return tl::unexpected(fmt::format("cannot write to the standard output: {}", std::strerror(errno)));
}

}  // namespace

bool use_color(ColorChoice choice) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  const std::string term = environment("TERM");
  return environment("NO_COLOR").empty() && !term.empty() && term != "dumb" && isatty(STDOUT_FILENO) == 1;
}

render::Charset output_charset() {
  return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? render::Charset::kUtf8 : render::Charset::kAscii;
}

tl::expected<void, std::string> write_output(std::string_view text, bool may_page) {
  signal(SIGPIPE, SIG_IGN);
  const TerminalSize size = terminal_size();
  const auto lines = size_t(std::count(text.begin(), text.end(), '\n'));
  const std::string pager = pager_command();
  if (may_page && size.is_terminal && lines >= size.rows && !pager.empty() && pager != "cat") {
    setenv("LESS", "FRX", 0);
    if (std::FILE* pipe = popen(pager.c_str(), "w"); pipe != nullptr) {
      const auto written = write_to(pipe, text);
      // 127 is the shell's "not found": then the text goes to the terminal as it is.
      const int status = pclose(pipe);
      if (status != -1 && WEXITSTATUS(status) != 127) return written;
    }
  }
  return write_to(stdout, text);
}

}  // namespace varve
