// SPDX-License-Identifier: MIT
// The texts made from an OptionTable: --help for a terminal, and the OPTIONS section of a man page in mdoc.
// Not a parser: options.cc.
// Context: viewer.
#include <fmt/format.h>

#include <algorithm>

#include "viewer/options.h"

namespace varve {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// Words joined into lines of at most `width` columns; `indent` before all but the first.
std::string wrap(std::string_view text, size_t indent, size_t width) {
  const size_t room = std::max<size_t>(width, indent + 20);
  std::string lines;
  size_t column = indent;
  for (const std::string& word : split(text, ' ')) {
    if (column > indent && column + 1 + word.size() > room) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

std::string option_sentence(const Option& option) {
  return option.default_text.empty() ? option.help
                                     : fmt::format("{} Default: {}.", option.help, option.default_text);
}

/// "  -o, --output DIR   ", the long name alone standing under long names.
std::string option_names(const Option& option) {
  const std::vector<std::string> names = split(option.names, ',');
  std::string text = names.size() == 1 ? "      " + names[0] : fmt::format("  {}", fmt::join(names, ", "));
  if (!option.argument.empty()) text += ' ' + option.argument;
  return text;
}

constexpr size_t kHelpColumn = 28;

std::string help_row(std::string_view left, std::string_view sentence, size_t width) {
  return two_columns(left, sentence, kHelpColumn, width);
}

/// Sections in the order of their first row.
std::vector<std::string> sections(const OptionTable& table) {
  std::vector<std::string> names;
  for (const Option& option : table.options) {
    if (std::find(names.begin(), names.end(), option.section) == names.end()) names.push_back(option.section);
  }
  return names;
}

const Option& help_option() {
  static const Option option = {"", "-h,--help", "", "", "Print this text and exit.", {}};
  return option;
}

// --- mdoc
// ------------------------------------------------------------------------------------------------------

/// Text as roff reads it: backslashes and minus signs spelled out, no line that begins with a control
/// character.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (out.empty() && (c == '.' || c == '\'')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

constexpr size_t kManWidth = 78;  // mandoc -T lint wants source lines below 80

/// Each sentence on a line of its own, as mdoc wants it, and long ones on several.
std::string roff_sentences(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t stop = text.find(". ", at);
    const size_t end = stop == std::string_view::npos ? text.size() : stop + 1;
    for (const std::string& line : split(wrap(text.substr(at, end - at), 0, kManWidth), '\n'))
      out += roff(line) + '\n';
    at = end + 1;
  }
  return out;
}

/// "-o" -> "Fl o", "--output" -> "Fl Fl output", the argument as Ar.
std::string man_item(const Option& option) {
  std::string item;
  for (const std::string& name : split(option.names, ',')) {
    if (!item.empty()) item += " , ";
    item += name.starts_with("--") ? "Fl Fl " + roff(name.substr(2)) : "Fl " + roff(name.substr(1));
  }
  return option.argument.empty() ? item : item + " Ar " + roff(option.argument);
}

}  // namespace

std::string two_columns(std::string_view left, std::string_view sentence, size_t column, size_t width) {
  const std::string text = wrap(sentence, column, width);
  if (left.size() + 1 < column) return fmt::format("{:<{}}{}\n", left, column, text);
  return fmt::format("{}\n{:{}}{}\n", left, "", column, text);
}

std::string help_text(const OptionTable& table, size_t width) {
  std::string text;
  const std::string name = table.command.empty() ? "varve" : "varve " + table.command;
  for (const std::string& usage : table.usages) {
    text += fmt::format("{} {} {}\n", text.empty() ? "Usage:" : "      ", name, usage);
  }
  text += fmt::format("\n{}\n", wrap(table.summary, 0, width));
  if (!table.positionals.empty()) text += '\n';
  for (const Positional& each : table.positionals) text += help_row("  " + each.name, each.help, width);
  for (const Choices& choices : table.choices) {
    text += fmt::format("\n{}:\n", choices.title);
    for (const auto& [word, sentence] : choices.words) text += help_row("  " + word, sentence, width);
  }
  for (const std::string& section : sections(table)) {
    text += fmt::format("\n{}:\n", section);
    for (const Option& option : table.options) {
      if (option.section == section) text += help_row(option_names(option), option_sentence(option), width);
    }
  }
  return text + '\n' + help_row(option_names(help_option()), help_option().help, width);
}

std::string man_words(const std::vector<std::pair<std::string, std::string>>& words) {
  std::string text = ".Bl -tag -width Ds\n";
  for (const auto& [word, sentence] : words)
    text += fmt::format(".It Cm {}\n{}", roff(word), roff_sentences(sentence));
  return text + ".El\n";
}

std::string man_options(const OptionTable& table) {
  std::string text;
  if (!table.positionals.empty()) {
    text += ".Bl -tag -width Ds\n";
    for (const Positional& each : table.positionals) {
      text += fmt::format(".It Ar {}\n{}", roff(each.name), roff_sentences(each.help));
    }
    text += ".El\n";
  }
  for (const Choices& choices : table.choices) {
    text += fmt::format(".Ss {}\n{}", roff(choices.title), man_words(choices.words));
  }
  for (const std::string& section : sections(table)) {
    text += fmt::format(".Ss {}\n.Bl -tag -width Ds\n", roff(section));
    for (const Option& option : table.options) {
      if (option.section != section) continue;
      text += fmt::format(".It {}\n{}", man_item(option), roff_sentences(option_sentence(option)));
    }
    text += ".El\n";
  }
  return text + fmt::format(".Ss Help\n.Bl -tag -width Ds\n.It {}\n{}.El\n", man_item(help_option()),
                            roff_sentences(help_option().help));
}

}  // namespace varve
