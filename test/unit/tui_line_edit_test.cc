// SPDX-License-Identifier: MIT
// The line of a prompt: editing by characters, completion, history. Context: tests.
#include <criterion/criterion.h>

#include <string>

#include "viewer/tui/line_edit.h"

using namespace varve::tui;

namespace {

/// After the keys of a script; the cursor as |.
std::string edited(const std::string& text, const std::string& script) {
  LineEdit line(text);
  const auto inputs = parse_script(script);
  for (const Input& input : *inputs) line.edit(input.key);
  std::string shown = line.text();
  return shown.insert(line.cursor(), "|");
}

void expect(const std::string& text, const std::string& script, const std::string& wanted) {
  const std::string result = edited(text, script);
  cr_expect(result == wanted, "'%s' and %s: '%s', not '%s'", text.c_str(), script.c_str(), result.c_str(),
            wanted.c_str());
}

const std::vector<std::string> kOffered = {"--module", "--thread", "thread-a", "threads"};

}  // namespace

Test(tui_line_edit, keys) {
  expect("", "abc", "abc|");
  expect("abc", "<Left><Left>x", "ax|bc");
  expect("abc", "<Home>x<End>y", "xabcy|");
  expect("abc", "<C-a><Del>", "|bc");
  expect("abc", "<C-a><C-e><Backspace>", "ab|");
  expect("a日b", "<Left><Left>x", "ax|日b");
  expect("a日b", "<Left><Backspace>", "a|b");
  expect("a日b", "<Home><Right><Del>", "a|b");
  expect("abc", "<Left><C-k>", "ab|");
  expect("abc", "<Left><C-u>", "|c");
  expect("one two  ", "<C-w>", "one |");
  expect("one", "<C-w><C-w>", "|");
  expect("", "<Backspace><Del><Left><Right><C-w><C-u><C-k>", "|");
  expect("a", "<Left><Left><Right><Right>b", "ab|");
}

Test(tui_line_edit, keys_that_type_nothing) {
  LineEdit line("a");
  for (const Key key : {key::kUp, key::kDown, key::kF1, key::kPageUp, key::kTab, key::kEnter, key::kEscape,
                        key::control('G')})
    cr_expect(!line.edit(key));
  cr_expect_str_eq(line.text().c_str(), "a");
}

Test(tui_line_edit, completion_goes_round) {
  LineEdit line("x th");
  const char* wanted[] = {"x thread-a", "x threads", "x thread-a"};
  for (const char* each : wanted) {
    line.complete(kOffered);
    cr_expect_str_eq(line.text().c_str(), each);
    cr_expect_eq(line.cursor(), line.text().size());
  }
  line.edit('s');
  line.complete(kOffered);
  cr_expect_str_eq(line.text().c_str(), "x thread-as", "typing ends it: nothing begins with thread-as");
}

Test(tui_line_edit, another_line_is_completed_anew) {
  LineEdit line("th");
  line.complete(kOffered);
  line.recall({"go --m"}, true);
  line.complete(kOffered);
  cr_expect_str_eq(line.text().c_str(), "go --module");
}

Test(tui_line_edit, completion_in_the_middle_and_of_nothing) {
  LineEdit line("--m worker");
  line.edit(key::kHome);
  for (int i = 0; i < 3; ++i) line.edit(key::kRight);
  line.complete(kOffered);
  cr_expect_str_eq(line.text().c_str(), "--module worker");
  LineEdit blank("go ");
  blank.complete(kOffered);
  cr_expect_str_eq(blank.text().c_str(), "go --module");
  blank.complete(kOffered);
  cr_expect_str_eq(blank.text().c_str(), "go --thread");
  cr_expect_eq(LineEdit::beginning_with(kOffered, "--").size(), 2u);
}

Test(tui_line_edit, history) {
  const std::vector<std::string> history = {"first", "second"};
  LineEdit line("typed");
  const auto recall = [&](bool older) {
    line.recall(history, older);
    return line.text();
  };
  cr_expect(recall(false) == "typed");
  cr_expect(recall(true) == "second");
  cr_expect(recall(true) == "first");
  cr_expect(recall(true) == "first");
  cr_expect_eq(line.cursor(), 5u);
  cr_expect(recall(false) == "second");
  cr_expect(recall(false) == "typed", "what was typed is not lost");
  LineEdit alone("x");
  alone.recall({}, true);
  cr_expect_str_eq(alone.text().c_str(), "x");
}
