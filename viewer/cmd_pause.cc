// SPDX-License-Identifier: MIT
// varve pause and varve resume: for a while no samples of a run that is being recorded.
// Context: viewer.
#include <fmt/format.h>

#include "common/units.h"
#include "viewer/command.h"
#include "viewer/load/load.h"
#include "viewer/record/control_state.h"
#include "viewer/render/escape.h"

namespace varve {
namespace {

struct Wanted {
  const char* command;
  const char* summary;
  bool paused;
  const char* done;
};
constexpr Wanted kPause = {
    "pause", "Take no more samples of a run that is being recorded; the run itself goes on.", true, "paused"};
constexpr Wanted kResume = {"resume", "Take samples again after varve pause, or before --delay is over.",
                            false, "resumed"};

OptionTable control_table(const Wanted& wanted, std::string& profile) {
  OptionTable table;
  table.command = wanted.command;
  table.summary = wanted.summary;
  table.usages = {"[PROFILE]"};
  table.positionals = {{"PROFILE", "The profile's directory. Default: the newest in the current directory.",
                        false, set_text(profile)}};
  return table;
}

template <const Wanted& wanted>
OptionTable describe() {
  static std::string unread;
  return control_table(wanted, unread);
}

template <const Wanted& wanted>
int run(std::span<const std::string> arguments) {
  std::string path;
  const Start start = start_command(control_table(wanted, path), arguments);
  if (!start.go_on) return start.exit_code;
  if (path.empty()) {
    auto newest = load::find_newest_profile(".");
    if (!newest) return fail(wanted.command, newest.error());
    path = std::move(*newest);
  }
  const auto since_start = record::set_paused(path, wanted.paused);
  if (!since_start) return fail(wanted.command, since_start.error());
  return print_text(wanted.command, fmt::format("{} {} after {:.3f} s\n", render::escape(path), wanted.done,
                                                in_seconds(*since_start)));
}

}  // namespace

const Command kPauseCommand = {"pause", describe<kPause>, run<kPause>};
const Command kResumeCommand = {"resume", describe<kResume>, run<kResume>};

}  // namespace varve
