// SPDX-License-Identifier: MIT
// Option tables: parsing, refusals in one sentence, and that help and man page name every option. Context:
// tests.
#include <criterion/criterion.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "viewer/analyze/nearest_name.h"
#include "viewer/command.h"
#include "viewer/options.h"

using namespace varve;

namespace {

enum class Shape { kText, kCsv };

struct Parsed {
  std::string output, first, second;
  std::vector<std::string> many, command;
  uint64_t depth = 1024;
  Nanos interval{10'000'000};
  bool quiet = false;
  Shape shape = Shape::kText;
};

OptionTable table_for(Parsed& parsed, bool verbatim) {
  OptionTable table;
  table.command = "test";
  table.summary = "Test.";
  table.usages = {"[options]"};
  table.options = {
      {"A", "-o,--output", "DIR", "here", "Where to.", set_text(parsed.output)},
      {"A", "-q,--quiet", "", "", "Say nothing.", set_flag(parsed.quiet)},
      {"B", "--stack-depth", "N", "1024", "How deep.", set_number(parsed.depth, 1, 4096)},
      {"B", "--interval", "TIME", "10ms", "How often.",
       set_duration(parsed.interval, "ms", kNanosPerMilli, kNanosPerSecond)},
      {"B", "--many", "X", "", "Several.", add_text(parsed.many)},
      {"B", "--format", "FORMAT", "text", "How.",
       set_choice<Shape>(parsed.shape, {{"text", Shape::kText}, {"csv", Shape::kCsv}})},
  };
  if (verbatim) {
    table.verbatim = &parsed.command;
  } else {
    table.positionals = {{"FIRST", "One.", true, set_text(parsed.first)},
                         {"SECOND", "Two.", false, set_text(parsed.second)}};
  }
  return table;
}

Parsed parse(const std::vector<std::string>& words, bool verbatim = true) {
  Parsed parsed;
  const auto outcome = parse_options(table_for(parsed, verbatim), words);
  cr_assert(outcome.has_value(), "%s", outcome.has_value() ? "" : outcome.error().c_str());
  return parsed;
}

void refuses(const std::vector<std::string>& words, const std::string& sentence, bool verbatim = true) {
  Parsed parsed;
  const auto outcome = parse_options(table_for(parsed, verbatim), words);
  cr_assert_not(outcome.has_value(), "accepted: %s", words.empty() ? "" : words[0].c_str());
  cr_expect_eq(outcome.error(), sentence, "%s", outcome.error().c_str());
}

using Words = std::vector<std::string>;

}  // namespace

Test(options, values_and_the_command_line_that_follows) {
  const Parsed all =
      parse({"-o", "d", "--interval", "4ms", "-q", "--stack-depth=7", "prog", "-x", "--output", "z"});
  cr_expect_eq(all.output, "d");
  cr_expect_eq(all.interval.count, 4'000'000);
  cr_expect(all.quiet);
  cr_expect_eq(all.depth, 7);
  cr_expect(all.command == (Words{"prog", "-x", "--output", "z"}));
  cr_expect(parse({"-qo", "d", "prog"}).command == Words{"prog"});
  cr_expect_eq(parse({"-qod", "prog"}).output, "d");
  cr_expect(parse({"--", "-weird", "--"}).command == (Words{"-weird", "--"}));
  cr_expect(parse({"-q", "--", "--quiet"}).command == Words{"--quiet"});
  cr_expect(parse({"prog", "--", "x"}).command == (Words{"prog", "--", "x"}));
  cr_expect(parse({}).command.empty());
  cr_expect(parse({"--many", "a", "--many", "b", "prog"}).many == (Words{"a", "b"}));
  cr_expect(parse({"--format", "csv", "p"}).shape == Shape::kCsv);
}

Test(options, positionals) {
  const Parsed both = parse({"one", "-q", "two"}, false);
  cr_expect_eq(both.first, "one");
  cr_expect_eq(both.second, "two");
  cr_expect(both.quiet);
  refuses({}, "FIRST is missing", false);
  refuses({"a", "b", "c"}, "unexpected argument 'c'", false);
}

Test(options, refusals_are_one_sentence) {
  refuses({"--intervall", "4ms", "prog"}, "unknown option '--intervall', did you mean '--interval'?");
  refuses({"--outptu=x"}, "unknown option '--outptu', did you mean '--output'?");
  refuses({"--depth", "4"}, "unknown option '--depth'");
  refuses({"-z"}, "unknown option '-z'");
  refuses({"--stack-depth", "x"}, "--stack-depth x is not a whole number");
  refuses({"--stack-depth", "-3"}, "--stack-depth -3 is not a whole number");
  refuses({"--stack-depth", "0"}, "--stack-depth 0 is out of range: it must be from 1 to 4096");
  refuses({"--stack-depth", "99999999999999999999999"},
          "--stack-depth 99999999999999999999999 is out of range: it must be from 1 to 4096");
  refuses({"--interval", "2s"}, "--interval 2s is out of range: it must be from 1ms to 1s");
  refuses({"--interval", "soon"}, "--interval soon is not a time such as 10ms, 1.5s or 2m");
  refuses({"--format", "cvs"}, "--format cvs is not one of text, csv; did you mean 'csv'?");
  refuses({"--output"}, "option '--output' needs a value: DIR");
  refuses({"-o", ""}, "--output is empty");
}

Test(options, durations) {
  const std::pair<const char*, uint64_t> good[] = {
      {"10ms", 10'000'000},      {"10", 10'000'000}, {"1.5s", 1'500'000'000},
      {"2min", 120'000'000'000}, {"0.25us", 250},    {"7ns", 7},
      {"1h", 3'600'000'000'000}, {"0", 0},           {"2m", 120'000'000'000}};
  for (const auto& [text, nanos] : good) {
    const auto parsed = parse_duration(text, "ms");
    cr_assert(parsed.has_value(), "%s", text);
    cr_expect_eq(parsed->count, nanos, "%s", text);
  }
  for (const char* bad : {"", "ms", "10 ms", "-1s", "1e30s", "nan", "inf", "10M", "0x10", "1..5s", "5 "}) {
    cr_expect_not(parse_duration(bad, "ms").has_value(), "%s", bad);
  }
  for (const uint64_t nanos : {1ull, 1'000ull, 1'500'000ull, 1'000'000'000ull, 90'000'000'000ull}) {
    cr_expect_eq(parse_duration(duration_text({nanos}), "ms")->count, nanos);
  }
}

Test(options, near_names) {
  const Words names = {"summary", "hotspots", "top-down", "bottom-up", "callers", "threads"};
  const auto near = [&](const char* word) { return std::string(analyze::nearest_name(word, names)); };
  cr_expect_eq(near("hotspot"), "hotspots");
  cr_expect_eq(near("topdown"), "top-down");
  cr_expect_eq(near("thraeds"), "threads");
  cr_expect_eq(near("summ"), "summary");
  cr_expect_eq(near("xyzzy"), "");
  cr_expect_eq(near(""), "");
}

/// Every time says its units and what a number alone is.
Test(options, times_say_their_unit) {
  size_t times = 0;
  for (const Command* command : commands()) {
    for (const Option& option : command->describe().options) {
      if (option.argument != "TIME" && option.names != "--time") continue;
      ++times;
      cr_expect(option.help.find(kTimeUnits) != std::string::npos, "%s", option.names.c_str());
      const bool milli = option.names == "--interval";
      cr_expect(option.help.find(milli ? "a number alone is ms" : "a number alone is s") != std::string::npos,
                "%s", option.names.c_str());
    }
  }
  cr_expect_geq(times, 4);
}

/// Help and man page are made from the rows; every option must be in both, and in the page of its command.
Test(options, help_and_man_pages_agree) {
  size_t options = 0;
  for (const Command* command : commands()) {
    const OptionTable table = command->describe();
    cr_expect_eq(table.command, command->name);
    cr_expect_not(table.summary.empty());
    cr_expect_not(table.usages.empty());
    const std::string help = help_text(table, 80), man = man_options(table);
    for (const Option& option : table.options) {
      ++options;
      const std::string name = option.names.substr(option.names.find("--") + 2);
      std::string escaped;
      for (const char c : name) escaped += c == '-' ? "\\-" : std::string(1, c);
      cr_expect(help.find("--" + name) != std::string::npos, "%s", name.c_str());
      cr_expect(man.find("Fl Fl " + escaped) != std::string::npos, "%s", name.c_str());
      cr_expect(option.help.ends_with('.') || option.help.ends_with(')'), "%s: %s", name.c_str(),
                option.help.c_str());
      cr_expect(option.set != nullptr, "%s", name.c_str());
    }
    size_t widest = 0;
    for (size_t at = 0, end; at < help.size(); at = end + 1) {
      end = help.find('\n', at);
      widest = std::max(widest, end - at);
    }
    cr_expect_leq(widest, 80, "varve help %s", command->name);
    if (std::string(command->name) == "help") continue;
    std::ifstream page(std::string("man/varve-") + command->name + ".1.in");
    const std::string text{std::istreambuf_iterator<char>(page), {}};
    cr_expect(text.find("\n@OPTIONS@\n") != std::string::npos, "man page of %s", command->name);
  }
  cr_expect_gt(options, 15);
}
