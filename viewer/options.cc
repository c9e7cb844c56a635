// SPDX-License-Identifier: MIT
// Parsing by an OptionTable: hands the rows to CLI11, and turns what it refuses into one sentence. The texts
// made from the same rows are in options_text.cc. Context: viewer.
#include "viewer/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "viewer/analyze/nearest_name.h"

namespace varve {
namespace {

const Option* find_option(const OptionTable& table, std::string_view name) {
  for (const Option& option : table.options) {
    for (const std::string& each : CLI::detail::split(option.names, ',')) {
      if (each == name) return &option;
    }
  }
  return nullptr;
}

bool takes_value(const OptionTable& table, std::string_view name) {
  const Option* option = find_option(table, name);
  return option != nullptr && !option->argument.empty();
}

/// How many of the words are varve's own; the others are the verbatim command line.
size_t own_words(const OptionTable& table, std::span<const std::string> words) {
  size_t i = 0;
  while (i < words.size() && words[i].starts_with('-') && words[i].size() > 1 && words[i] != "--") {
    i += value_follows(table, words[i]) ? 2 : 1;
  }
  return std::min(i, words.size());
}

std::vector<std::string> long_names(const OptionTable& table) {
  std::vector<std::string> names = {"--help"};
  for (const Option& option : table.options) {
    for (const std::string& name : CLI::detail::split(option.names, ',')) {
      if (name.starts_with("--")) names.push_back(name);
    }
  }
  return names;
}

std::string unexpected_word(const OptionTable& table, std::string_view word) {
  if (!word.starts_with('-')) return fmt::format("unexpected argument '{}'", word);
  const std::string_view name = word.substr(0, word.find('='));
  const std::vector<std::string> names = long_names(table);
  const std::string_view near = analyze::nearest_name(name, names);
  return near.empty() ? fmt::format("unknown option '{}'", name)
                      : fmt::format("unknown option '{}', did you mean '{}'?", name, near);
}

/// CLI11 with the table's rows; the first refusal of a setter lands in `refusal`.
class Parser {
 public:
  explicit Parser(const OptionTable& table) : table_(table) {
    app_.set_help_flag();
    app_.add_flag_callback("-h,--help", [this] { help_ = true; });
    app_.allow_extras();
    for (const Option& option : table.options) add(option);
    for (const Positional& positional : table.positionals) add(positional);
  }

  tl::expected<ParseOutcome, std::string> run(std::span<const std::string> words) {
    // CLI11 takes the words from the back.
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    try {
      app_.parse(reversed);
    } catch (const CLI::ArgumentMismatch&) {
      return tl::unexpected(missing_value(words));
    } catch (const CLI::Error& error) {
      return tl::unexpected(std::string(error.what()));
    }
    if (help_) return ParseOutcome::kHelp;
    const std::vector<std::string> extras = app_.remaining();
    for (const std::string& extra : extras) {
      if (extra != "--") return tl::unexpected(unexpected_word(table_, extra));
    }
    if (refusal_) return tl::unexpected(*refusal_);
    return ParseOutcome::kRun;
  }

 private:
  void add(const Option& option) {
    const std::string shown = option.names.substr(option.names.rfind(',') + 1);
    if (option.argument.empty()) {
      app_.add_flag_callback(option.names, [this, &option, shown] { take(option.set, shown, ""); });
      return;
    }
    app_.add_option_function<std::vector<std::string>>(
            option.names,
            [this, &option, shown](const std::vector<std::string>& values) {
              for (const std::string& value : values)
                take(option.set, value.empty() ? shown : fmt::format("{} {}", shown, value), value);
            })
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
  }

  void add(const Positional& positional) {
    app_.add_option_function<std::string>(positional.name, [this, &positional](const std::string& value) {
      seen_.push_back(positional.name);
      take(positional.set, fmt::format("{} '{}'", positional.name, value), value);
    });
  }

  void take(const Setter& set, const std::string& subject, std::string_view value) {
    const Setting setting = set(value);
    if (!setting && !refusal_) refusal_ = fmt::format("{} {}", subject, setting.error());
  }

  /// CLI11 names the option, but in words of its own; the last option that wants a value and has none is the
  /// one.
  std::string missing_value(std::span<const std::string> words) const {
    for (size_t i = words.size(); i-- > 0;) {
      const Option* option = find_option(table_, words[i]);
      const bool bare = i + 1 == words.size() || words[i + 1].starts_with('-');
      if (option != nullptr && !option->argument.empty() && bare) {
        return fmt::format("option '{}' needs a value: {}", words[i], option->argument);
      }
    }
    return "an option lacks its value, or a flag has one";
  }

  const OptionTable& table_;
  CLI::App app_;
  bool help_ = false;
  std::optional<std::string> refusal_;
  std::vector<std::string> seen_;

 public:
  bool saw(const std::string& positional) const {
    return std::count(seen_.begin(), seen_.end(), positional) > 0;
  }
};

}  // namespace

bool has_option(const OptionTable& table, std::string_view word) {
  return find_option(table, word.substr(0, word.find('='))) != nullptr;
}

bool value_follows(const OptionTable& table, std::string_view word) {
  if (word.starts_with("--")) return word.find('=') == std::string_view::npos && takes_value(table, word);
  for (size_t i = 1; i < word.size(); ++i) {
    if (takes_value(table, fmt::format("-{}", word[i]))) return i + 1 == word.size();
  }
  return false;
}

tl::expected<ParseOutcome, std::string> parse_options(const OptionTable& table,
                                                      std::span<const std::string> words) {
  const size_t own = table.verbatim != nullptr ? own_words(table, words) : words.size();
  Parser parser(table);
  auto outcome = parser.run(words.first(own));
  if (!outcome || *outcome == ParseOutcome::kHelp) return outcome;
  for (const Positional& positional : table.positionals) {
    if (positional.required && !parser.saw(positional.name)) {
      return tl::unexpected(fmt::format("{} is missing", positional.name));
    }
  }
  if (table.verbatim != nullptr) {
    const bool marked = own < words.size() && words[own] == "--";
    table.verbatim->assign(words.begin() + ptrdiff_t(own + (marked ? 1 : 0)), words.end());
  }
  return outcome;
}

// --- setters
// -----------------------------------------------------------------------------------------------------

Setter set_flag(bool& target, bool value) {
  return [&target, value](std::string_view) -> Setting { return target = value, Setting{}; };
}

Setter set_text(std::string& target) {
  return [&target](std::string_view value) -> Setting {
    if (value.empty()) return tl::unexpected<std::string>("is empty");
    return target = value, Setting{};
  };
}

Setter add_text(std::vector<std::string>& target) {
  return [&target](std::string_view value) -> Setting { return target.emplace_back(value), Setting{}; };
}

Setter set_number(uint64_t& target, uint64_t low, uint64_t high) {
  return [&target, low, high](std::string_view value) -> Setting {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc::invalid_argument || end != value.data() + value.size()) {
      return tl::unexpected<std::string>("is not a whole number");
    }
    if (error != std::errc{} || number < low || number > high) {
      return tl::unexpected(fmt::format("is out of range: it must be from {} to {}", low, high));
    }
    return target = number, Setting{};
  };
}

namespace {
struct DurationUnit {
  std::string_view name;
  uint64_t nanos;
};
/// The largest first; of two names for one unit, the one that is printed.
constexpr DurationUnit kUnits[] = {{"h", 3'600'000'000'000},
                                   {"min", 60'000'000'000},
                                   {"m", 60'000'000'000},
                                   {"s", 1'000'000'000},
                                   {"ms", 1'000'000},
                                   {"us", 1'000},
                                   {"ns", 1}};
}  // namespace

tl::expected<Nanos, std::string> parse_duration(std::string_view text, std::string_view unit) {
  const tl::unexpected<std::string> no_time("is not a time such as 10ms, 1.5s or 2m");
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return no_time;
  const std::string_view rest(end, size_t(text.data() + text.size() - end));
  for (const DurationUnit& each : kUnits) {
    if (each.name != (rest.empty() ? unit : rest)) continue;
    const double nanos = number * double(each.nanos);
    if (nanos > 9e18) return tl::unexpected<std::string>("is longer than any run");
    return Nanos{uint64_t(std::llround(nanos))};
  }
  return no_time;
}

std::string duration_text(Nanos duration) {
  for (const DurationUnit& each : kUnits) {
    if (duration.count >= each.nanos && duration.count % each.nanos == 0) {
      return fmt::format("{}{}", duration.count / each.nanos, each.name);
    }
  }
  return "0s";
}

Setter set_duration(Nanos& target, std::string_view unit, Nanos low, Nanos high) {
  return [&target, unit = std::string(unit), low, high](std::string_view value) -> Setting {
    const auto duration = parse_duration(value, unit);
    if (!duration) return tl::unexpected(duration.error());
    if (*duration < low || *duration > high) {
      return tl::unexpected(
          fmt::format("is out of range: it must be from {} to {}", duration_text(low), duration_text(high)));
    }
    return target = *duration, Setting{};
  };
}

std::string not_one_of(std::string_view word, std::span<const std::string> names) {
  const std::string_view near = analyze::nearest_name(word, names);
  const std::string list = fmt::format("is not one of {}", fmt::join(names, ", "));
  return near.empty() ? list : fmt::format("{}; did you mean '{}'?", list, near);
}

}  // namespace varve
