// SPDX-License-Identifier: MIT
// OptionTable: the one description of a command's options, as data. Parsing, --help, the man page's OPTIONS
// section and the "did you mean" of an unknown option all read it, so they cannot disagree. Defaults are
// shown from it too. Not a place for meaning: a row only carries a setter, and what the value does is the
// command's. Context: viewer.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "common/units.h"

namespace varve {

/// What a setter says: nothing, or the rest of a sentence that begins with the option and its value, such as
/// "is not a number" or "is out of range: it must be from 1ms to 1s".
using Setting = tl::expected<void, std::string>;
using Setter = std::function<Setting(std::string_view value)>;

struct Option {
  std::string section;       // heading in --help and in the man page; rows of one section stand together
  std::string names;         // "-o,--output": short first; or only "--output"
  std::string argument;      // "DIR"; empty: a flag, whose setter gets ""
  std::string default_text;  // "10ms"; empty: none worth a word
  std::string help;          // one sentence, capital first, full stop
  Setter set;
};

struct Positional {
  std::string name;  // "PROFILE"
  std::string help;
  bool required = false;
  Setter set;
};

/// A list of words that an argument may be, with what each means: the views of report.
struct Choices {
  std::string title;
  std::vector<std::pair<std::string, std::string>> words;  // "hotspots", "functions by ..."
};

struct OptionTable {
  std::string command;                  // "record"; empty for varve itself
  std::string summary;                  // one sentence: what the command does
  std::vector<std::string> usages;      // "[options] [--] CMD [ARG...]", without "varve record"
  std::vector<Positional> positionals;  // in order
  std::vector<Choices> choices;         // of the positionals
  std::vector<Option> options;
  /// From the first word that is no option, or from "--", everything is a command line of its own and goes
  /// here untouched (varve record CMD --its-option). No positionals then.
  std::vector<std::string>* verbatim = nullptr;
};

enum class ParseOutcome { kRun, kHelp };

/// Parses the words after the command's name. The error is one sentence without a full stop's worth of
/// prefix, such as "unknown option '--intervall', did you mean '--interval'?"; the caller puts the command's
/// name before it and exits with 2. `-h` and `--help` belong to every table and yield kHelp.
tl::expected<ParseOutcome, std::string> parse_options(const OptionTable& table,
                                                      std::span<const std::string> words);

/// Whether a word is an option of the table: "-o", "--output" or "--output=DIR".
bool has_option(const OptionTable& table, std::string_view word);

/// Whether the word after this one, an option, is its value: of "-o", "-qo" and "--output", but not of
/// "-oDIR" or "--output=DIR".
bool value_follows(const OptionTable& table, std::string_view word);

/// The whole --help text, wrapped at `width` columns.
std::string help_text(const OptionTable& table, size_t width);

/// `left`, and from `column` on the sentence, wrapped at `width` columns below itself.
std::string two_columns(std::string_view left, std::string_view sentence, size_t column, size_t width);

/// The OPTIONS section of a man page, in mdoc; one .Ss and list a section of the table.
std::string man_options(const OptionTable& table);

/// Words and what they mean as an mdoc list.
std::string man_words(const std::vector<std::pair<std::string, std::string>>& words);

/// The units of parse_duration, for help texts.
inline constexpr char kTimeUnits[] = "ns, us, ms, s, m or h";

// --- setters
// -----------------------------------------------------------------------------------------------------

Setter set_flag(bool& target, bool value = true);
Setter set_text(std::string& target);
Setter add_text(std::vector<std::string>& target);
Setter set_number(uint64_t& target, uint64_t low, uint64_t high);
/// A number with ns, us, ms, s, m (or min) or h; a number alone is in `unit`, which the option's help says.
Setter set_duration(Nanos& target, std::string_view unit, Nanos low, Nanos high);

/// One of the names; `target` becomes the value beside it. Refuses with the list and the nearest name.
template <typename Value>
Setter set_choice(Value& target, std::vector<std::pair<std::string, Value>> choices);

/// "is not one of text, csv, json", with a "did you mean" where one name is near.
std::string not_one_of(std::string_view word, std::span<const std::string> names);

/// "1.5s" -> 1500000000 ns; error: the rest of a sentence, as a Setter gives it.
tl::expected<Nanos, std::string> parse_duration(std::string_view text, std::string_view unit);
/// The shortest form that parse_duration reads back: "10ms", "1500us".
std::string duration_text(Nanos duration);

template <typename Value>
Setter set_choice(Value& target, std::vector<std::pair<std::string, Value>> choices) {
  return [&target, choices = std::move(choices)](std::string_view word) -> Setting {
    std::vector<std::string> names;
    for (const auto& [name, value] : choices) {
      if (name == word) return target = value, Setting{};
      names.push_back(name);
    }
    return tl::unexpected(not_one_of(word, names));
  };
}

}  // namespace varve
