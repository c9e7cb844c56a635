// SPDX-License-Identifier: MIT
// Prompts: what a line that the user typed does.
// Context: viewer.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "viewer/render/render.h"
#include "viewer/tui/app.h"
#include "viewer/tui/row_words.h"

namespace varve::tui {
namespace {

constexpr const char* kQuestions[] = {
    "", "/", "keep rows with: ", ":", "least share in percent: ", "write to: "};

/// Words as a shell splits them: quotes keep blanks, a backslash the next character.
std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    if (quote == 0 && letter == ' ') {
      if (inside) words.push_back(std::exchange(word, ""));
      inside = false;
      continue;
    }
    inside = true;
    if (letter == '\\' && quote != '\'' && i + 1 < line.size())
      word += line[++i];
    else if (letter == quote)
      quote = 0;
    else if (quote == 0 && (letter == '\'' || letter == '"'))
      quote = letter;
    else
      word += letter;
  }
  if (inside) words.push_back(word);
  return words;
}

/// As split_words() reads it as one word.
std::string escaped_word(const std::string& word) {
  std::string escaped;
  for (const char letter : word) {
    if (letter == ' ' || letter == '\'' || letter == '"' || letter == '\\') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

/// A new file with this content; the error is a sentence.
tl::expected<void, std::string> write_new(const std::string& path, const std::string& content) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return tl::unexpected(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t more = write(file, content.data() + done, content.size() - done);
    if (more <= 0) break;
    done += size_t(more);
  }
  const int error = errno;
  if (close(file) == 0 && done == content.size()) return {};
  return tl::unexpected(fmt::format("cannot write all of {}: {}", path, std::strerror(error)));
}

}  // namespace

void App::ask(Ask what, std::string text) {
  asking_ = what;
  line_ = LineEdit(std::move(text));
  if (what == Ask::kSearch) search_back_ = screen().way_back();
}

void App::draw_prompt(Pane pane) {
  const std::string_view question = kQuestions[size_t(asking_)];
  const size_t at = pane.put(0, 0, question, kBold);
  const size_t room = pane.columns() - at - 1;
  const size_t cursor = render::display_width(render::escape(line_.text().substr(0, line_.cursor())));
  // Of a line that is too long the part before the cursor is shown.
  const size_t skipped = cursor > room ? cursor - room : 0;
  pane.put(0, at, render::skip_columns(render::escape(line_.text()), skipped));
  pane.restyle(0, kReverse, at + cursor - skipped, 1);
}

namespace {
/// A regular expression that the name, and what has it as a part, fits.
std::string as_expression(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}
}  // namespace

/// What goes with an option or a screen: names as its view has them, the hottest first. Empty where it is
/// none of these.
std::vector<std::string> App::names_after(const std::string& word) const {
  struct Named {
    const char* word;
    const char* view;
    const char* column;
    bool expression;  // it takes a regular expression, not a name
  };
  static constexpr Named kNamed[] = {
      {"callers", "hotspots", "function", false}, {"annotate", "hotspots", "function", false},
      {"function", "hotspots", "function", true}, {"module", "modules", "module", true},
      {"object", "waits", "object", true},        {"thread", "threads", "name", true}};
  const std::string bare = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  const auto named = std::ranges::find(kNamed, bare, &Named::word);
  if (named == std::end(kNamed)) return {};
  const view::Made made = workspace_.make(named->view);
  std::vector<std::string> names;
  if (made && !made->tables.empty())
    names =
        names_in(made->tables.front(), named->column, named->expression ? NameForm::kFull : NameForm::kShort);
  for (std::string& name : names) name = escaped_word(named->expression ? as_expression(name) : name);
  return names;
}

std::vector<std::string> App::completions() const {
  const std::vector<std::string> before = split_words(line_.before_word());
  if (!before.empty()) {
    const std::vector<std::string> names = names_after(before.back());
    return names.empty() ? options_.option_names : names;
  }
  std::vector<std::string> words = options_.option_names;
  for (const std::string& name : options_.option_names) words.push_back(name.substr(2));
  for (const Binding& binding : bindings()) words.emplace_back(binding.command);
  for (const ScreenKind& kind : tui::screens()) words.emplace_back(kind.name);
  words.emplace_back("write");
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

/// The next word that fits, and in the line above which there are.
void App::complete() {
  const std::vector<std::string> words = line_.complete(completions());
  if (words.empty()) message_ = "No command, option or name has this.";
  if (words.size() < 2) return;
  message_ = fmt::format("{} fit:", words.size());
  for (const std::string& word : words) {
    if (message_.size() + word.size() + 6 > size_.columns) {
      message_ += "  ...";
      break;
    }
    message_ += "  " + word;
  }
}

/// A search goes along while it is typed, each time from where it began; an expression that is not whole yet
/// changes nothing.
void App::follow_search() {
  const auto pattern = analyze::Pattern::parse(line_.text());
  if (!pattern) return;
  search_back_();
  message_.clear();
  if (line_.text().empty()) return;
  message_ = screen().search(*pattern, Direction::kForward, false) ? "" : "No match.";
}

void App::answer(Key key) {
  if (asking_ == Ask::kCommand) message_.clear();  // what Tab offered
  const bool searching = asking_ == Ask::kSearch;
  if (key == key::kEscape) {
    asking_ = Ask::kNothing;
    message_.clear();
    if (searching) search_back_();
  } else if (key == key::kEnter || key == '\n') {
    outcome_ = accept();
  } else if (key == key::kTab && asking_ == Ask::kCommand) {
    complete();
  } else if ((key == key::kUp || key == key::kDown) && asking_ == Ask::kCommand) {
    line_.recall(commands_, key == key::kUp);
  } else if (key == key::kBackspace && line_.text().empty()) {
    asking_ = Ask::kNothing;
  } else if (line_.edit(key) && searching) {
    follow_search();
  }
}

Outcome App::accept() {
  const Ask asked = std::exchange(asking_, Ask::kNothing);
  const std::string text = line_.text();
  message_.clear();
  if (asked == Ask::kSearch) search_back_();
  if (asked == Ask::kCommand) return run_command(text);
  if (asked == Ask::kPrint) return print_to(text), Outcome::kGoOn;
  if (asked == Ask::kShare) return narrow({"--min-share", text}), Outcome::kGoOn;
  auto pattern = text.empty() ? analyze::Pattern() : analyze::Pattern::parse(text);
  if (!pattern) {
    message_ = fmt::format("'{}' {}", text, pattern.error());
    return Outcome::kGoOn;
  }
  pattern_ = *pattern;
  if (asked == Ask::kKeep) keep(text, pattern_);
  if (asked == Ask::kSearch && !screen().search(pattern_, Direction::kForward, false) && pattern_.given())
    message_ = "No match.";
  return Outcome::kGoOn;
}

/// A command of the table of keys, a screen, "write FILE", or options of report with or without dashes.
Outcome App::run_command(const std::string& line) {
  std::vector<std::string> words = split_words(line);
  if (words.empty()) return Outcome::kGoOn;
  commands_.push_back(line);
  if (words[0] == "write" || words[0] == "w") {
    if (words.size() == 2)
      print_to(words[1]);
    else
      message_ = "write needs a file name";
    return Outcome::kGoOn;
  }
  if (words[0] == "q") words[0] = "quit";  // as in vim and less
  if (words.size() == 1 && words[0] != "help")
    if (const Binding* binding = find_binding(words[0])) return act(binding->action, 0);
  if (find_screen(words[0]) != nullptr && words.size() <= 2) {
    if (words.size() == 2)
      if (const auto made = workspace_.make_of(words[0], words[1]); !made && !workspace_.waits()) {
        message_ = made.error();
        return Outcome::kGoOn;
      }
    go_named(words[0]);
    if (words.size() == 2 && !screen().show({.function = words[1]}))
      message_ = fmt::format("{} takes no argument", words[0]);
    return Outcome::kGoOn;
  }
  if (!words[0].starts_with('-')) words[0].insert(0, "--");
  narrow(words);
  return Outcome::kGoOn;
}

void App::print_to(const std::string& path) {
  const view::View* view = screen().shown();
  if (path.empty() || view == nullptr) {
    message_ = path.empty() ? "" : "This screen has nothing to write.";
    return;
  }
  view::View printed = screen().printed();
  if (!kept_[open_].empty() && screen().prints_kept())
    printed.notes.push_back("Only rows with " + kept_[open_] + ".");
  const auto written = write_new(path, path.ends_with(".csv")    ? render::csv(printed)
                                       : path.ends_with(".json") ? render::json(printed)
                                                                 : render::text(printed, {}));
  message_ = written ? fmt::format("Wrote {}.", path) : written.error();
}

}  // namespace varve::tui
