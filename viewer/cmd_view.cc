// SPDX-License-Identifier: MIT
// varve view [SCREEN] [PROFILE]: a profile on the terminal; without one, what report or annotate prints.
// Context: viewer.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "viewer/command.h"
#include "viewer/narrow_options.h"
#include "viewer/open_profile.h"
#include "viewer/output.h"
#include "viewer/tui/run.h"
#include "viewer/view_session.h"

namespace varve {
namespace {

struct ViewCommand {
  std::vector<std::string> words;
  ViewSession session;
  std::optional<tui::Size> size;
  std::vector<tui::Input> script;
  std::string save_to;
};

template <typename Value, typename Parse>
Setter set_parsed(Value& target, Parse parse) {
  return [&target, parse](std::string_view word) -> Setting {
    auto value = parse(word);
    if (!value) return tl::unexpected(value.error());
    target = std::move(*value);
    return {};
  };
}

Options screen_options(ViewCommand& command) {
  return {
      {"Screen", "--color", "WHEN", "auto",
       "Use colours: auto, always or never. NO_COLOR in the environment turns auto into never.",
       set_choice<ColorChoice>(
           command.session.color,
           {{"auto", ColorChoice::kAuto}, {"always", ColorChoice::kAlways}, {"never", ColorChoice::kNever}})},
      {"Screen", "--no-mouse", "", "", "Leave the mouse to the terminal; M switches it on and off.",
       set_flag(command.session.mouse, false)},
      {"Without a terminal", "--size", "COLUMNSxROWS", "80x24", "The size of the screen to save.",
       set_parsed(command.size, tui::parse_size)},
      {"Without a terminal", "--script", "KEYS", "",
       "Press these keys first: characters as they are, others as <Down>, <Enter>, <C-d> or <lt>.",
       set_parsed(command.script, tui::parse_script)},
      {"Without a terminal", "--save-screen", "FILE", "",
       "Write the screen to FILE as text, and end. - is the standard output.", set_text(command.save_to)},
  };
}

Choices screen_choices() {
  Choices choices{"Screens", {}};
  for (const tui::ScreenKind& kind : tui::screens()) choices.words.emplace_back(kind.name, kind.sentence);
  return choices;
}

void add(OptionTable& table, const Options& group) {
  table.options.insert(table.options.end(), group.begin(), group.end());
}

OptionTable view_table(ViewCommand& command) {
  OptionTable table;
  table.command = "view";
  table.summary = "Look at a recorded profile on the terminal.";
  table.usages = {"[options] [SCREEN] [PROFILE]", "[options] callers|annotate FUNCTION [PROFILE]"};
  table.positionals = {
      {"SCREEN", "What to open first. Default: summary.", false, add_text(command.words)},
      {"FUNCTION", "For callers and annotate: its name.", false, add_text(command.words)},
      {"PROFILE", "The profile's directory. Default: the newest in the current directory.", false,
       add_text(command.words)},
  };
  table.choices = {screen_choices()};
  add(table, screen_options(command));
  add(table, narrow_options(command.session.options));
  add(table, symbol_options(command.session.options));
  return table;
}

OptionTable describe_view() {
  static ViewCommand unread;
  return view_table(unread);
}

struct ScreenWords {
  std::string screen = "summary", function, profile;
};
tl::expected<ScreenWords, std::string> understand_screen(std::vector<std::string> words) {
  ScreenWords result;
  // Either order will do.
  if (words.size() == 2 && tui::find_screen(words[0]) == nullptr && tui::find_screen(words[1]) != nullptr)
    std::swap(words[0], words[1]);
  size_t at = 0;
  if (!words.empty() && tui::find_screen(words[0]) != nullptr) {
    result.screen = words[at++];
    const bool about_one = result.screen == "callers" || result.screen == "annotate";
    // One word more is a profile if there is such a file, else a function.
    if (about_one && at < words.size() && (at + 1 < words.size() || access(words[at].c_str(), F_OK) != 0))
      result.function = words[at++];
  }
  if (at == 0 && !words.empty() && (words.size() > 1 || access(words[0].c_str(), F_OK) != 0)) {
    std::vector<std::string> names;
    for (const tui::ScreenKind& kind : tui::screens()) names.emplace_back(kind.name);
    const bool exists = access(words[0].c_str(), F_OK) == 0;
    const char* what = exists ? "is no screen: it" : "is neither a screen nor a profile: it";
    return tl::unexpected(fmt::format("'{}' {} {}", words[0], what, not_one_of(words[0], names)));
  }
  if (at < words.size()) result.profile = words[at++];
  if (at < words.size()) return tl::unexpected(fmt::format("unexpected argument '{}'", words[at]));
  return result;
}

/// The view of report that says the same as a screen.
std::string view_of(const std::string& screen) {
  return screen == "flame" ? "top-down" : screen == "help" ? "summary" : screen;
}

/// The options among these words of view that another command has, too, with their values.
std::vector<std::string> options_of(const OptionTable& other, const OptionTable& table,
                                    std::span<const std::string> arguments) {
  std::vector<std::string> options;
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (!arguments[i].starts_with('-')) continue;
    const size_t end = value_follows(table, arguments[i]) ? i + 2 : i + 1;
    if (has_option(other, arguments[i])) options.insert(options.end(), &arguments[i], arguments.data() + end);
    i = end - 1;
  }
  return options;
}

/// As report or annotate would print it, but for options that only screens have.
int print_report(const OptionTable& table, std::span<const std::string> arguments, const ScreenWords& asked) {
  const bool annotate = asked.screen == "annotate";
  const Command& command = annotate ? kAnnotateCommand : kReportCommand;
  std::vector<std::string> words = options_of(command.describe(), table, arguments);
  words.emplace_back("--");  // a name may begin with a dash
  if (!annotate) words.push_back(view_of(asked.screen));
  for (const std::string& word : {asked.function, asked.profile})
    if (!word.empty()) words.push_back(word);
  return command.run(words);
}

/// One that has no type, or one that cannot place a cursor, is a surprise; a pipe is none.
bool has_terminal() {
  if (isatty(STDOUT_FILENO) != 1 || isatty(STDIN_FILENO) != 1) return false;
  const char* term = std::getenv("TERM");
  if (term != nullptr && *term != '\0' && std::strcmp(term, "dumb") != 0) return true;
  complain("view", fmt::format("TERM is {}, so there are no screens; this is what varve report prints",
                               term != nullptr && *term != '\0' ? "dumb" : "not set"));
  return false;
}

int save_screen(const tui::Canvas& canvas, const ViewCommand& command) {
  const std::string text = canvas.text(canvas.look().color);
  if (command.save_to.empty() || command.save_to == "-") return print_text("view", text);
  std::ofstream file(command.save_to);
  file << text << std::flush;
  if (file) return kExitOk;
  return fail("view", fmt::format("cannot write {}: {}", command.save_to, std::strerror(errno)));
}

/// The screen after the script; nothing if it needs the samples and there are none.
std::optional<tui::Canvas> screen_of(const ViewCommand& command, const ScreenWords& words,
                                     const OpenProfile& open, const view::StoredViews* views) {
  tui::Workspace workspace(open.profile, open.names.table, command.session.options.request,
                           read_narrow_options, views);
  workspace.look = {.color = command.session.color == ColorChoice::kAlways,
                    .utf8 = output_charset() == render::Charset::kUtf8};
  tui::App app(workspace, app_options(command.session, open));
  if (!words.function.empty()) app.show(words.function);
  tui::Canvas canvas = tui::run_script(app, command.size.value_or(tui::Size{}), command.script);
  if (workspace.wants_samples()) return std::nullopt;
  return canvas;
}

int run_scripted(ViewCommand& command, const ScreenWords& words) {
  view::Request& request = command.session.options.request;
  const auto quick = load_views(words.profile, command.session.options.symbols);
  if (quick && fit_request(*quick, words.profile, request))
    if (const auto canvas = screen_of(command, words, *quick, &*quick->views))
      return save_screen(*canvas, command);
  const auto open = open_profile(words.profile, command.session.options);
  if (!open) return fail("view", open.error());
  return save_screen(*screen_of(command, words, *open, quick ? views_for(*quick, *open) : nullptr), command);
}

int run_view(std::span<const std::string> arguments) {
  ViewCommand command;
  const OptionTable table = view_table(command);
  const Start start = start_command(table, arguments);
  if (!start.go_on) return start.exit_code;
  const auto words = understand_screen(command.words);
  if (!words) {
    return fail("view", words.error(), kExitUsage);
  }
  const bool scripted = command.size || !command.script.empty() || !command.save_to.empty();
  if (!scripted && !has_terminal()) return print_report(table, arguments, *words);
  ViewSession& session = command.session;
  apply_limits(session.options);
  session.options.request.cut_words.clear();  // keys cut, too, and undo
  session.screen = words->screen;
  session.function = words->function;
  session.profile = words->profile;
  if (scripted) return run_scripted(command, *words);
  const auto code = view_on_terminal(std::move(session));
  if (code) return *code;
  complain("view", code.error());
  return print_report(table, arguments, *words);
}

}  // namespace

const Command kViewCommand = {"view", describe_view, run_view};

}  // namespace varve
