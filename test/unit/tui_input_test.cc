// SPDX-License-Identifier: MIT
// Scripts of keys, and the table of keys. Context: tests.
#include <criterion/criterion.h>

#include <map>
#include <set>
#include <string>

#include "viewer/tui/keymap.h"

using namespace varve::tui;

namespace {

Input only_input(const std::string& script) {
  const auto inputs = parse_script(script);
  cr_assert(inputs.has_value(), "%s", script.c_str());
  cr_assert_eq(inputs->size(), 1u, "%s", script.c_str());
  return inputs->front();
}

void refuses_script(const char* script, const char* sentence) {
  const auto inputs = parse_script(script);
  cr_assert(!inputs.has_value(), "%s", script);
  cr_expect_str_eq(inputs.error().c_str(), sentence);
}

}  // namespace

Test(tui_input, every_key_has_a_name_that_a_script_reads) {
  std::set<Key> keys = {key::kDelete, key::kF1, key::kEscape, key::kTab, key::kBackspace, key::kEnter};
  for (const Binding& binding : bindings())
    for (const Key each : binding.keys)
      if (each != 0) keys.insert(each);
  for (const Key each : keys) {
    const std::string name = key_name(each);
    const bool control = name.size() == 2 && name[0] == '^';
    const std::string script = control           ? "<C-" + name.substr(1) + ">"
                               : each == '<'     ? "<lt>"
                               : name.size() > 1 ? "<" + name + ">"
                                                 : name;
    const Input input = only_input(script);
    cr_expect_eq(input.key, each, "%s", script.c_str());
    cr_expect_eq(input.kind, each == key::control('C') ? Input::Kind::kQuit : Input::Kind::kKey);
  }
}

Test(tui_input, scripts) {
  const auto inputs = parse_script("jé<Down><C-d><Click 3,10><WheelUp 1,1><Resize 120x40>>");
  cr_assert(inputs.has_value());
  cr_assert_eq(inputs->size(), 8u);
  cr_expect_eq((*inputs)[1].key, U'é');
  cr_expect_eq((*inputs)[3].key, 4u);
  cr_expect_eq((*inputs)[4].kind, Input::Kind::kClick);
  cr_expect_eq((*inputs)[4].at.row, 2u);
  cr_expect_eq((*inputs)[4].at.column, 9u);
  cr_expect_eq((*inputs)[5].kind, Input::Kind::kWheelUp);
  cr_expect((*inputs)[6].size == (Size{40, 120}));
  cr_expect_eq((*inputs)[7].key, U'>');
  const auto none = parse_script("");
  cr_expect(none.has_value() && none->empty());
}

Test(tui_input, bad_scripts) {
  refuses_script("<", "has a '<' without '>'");
  refuses_script("ab<Down", "has a '<' without '>'");
  refuses_script("<>", "has no key <>");
  refuses_script("<down>", "has no key <down>");
  refuses_script("<C->", "has no key <C->");
  refuses_script("<C-é>", "has no key <C-é>");
  refuses_script("<C-1>", "has no key <C-1>");
  refuses_script("<Click 0,1>", "has no key <Click 0,1>");
  refuses_script("<Click 1>", "has no key <Click 1>");
  refuses_script("<Click 1,x>", "has no key <Click 1,x>");
  refuses_script("<Resize 0x0>", "has no key <Resize 0x0>");
  refuses_script("<Tap 1,1>", "has no key <Tap 1,1>");
}

Test(tui_input, sizes) {
  const auto small = parse_size("80x24"), flat = parse_size("1000x1");
  cr_expect(small.has_value() && *small == (Size{24, 80}));
  cr_expect(flat.has_value() && *flat == (Size{1, 1000}));
  for (const char* bad : {"", "x", "80", "80x", "x24", "0x24", "80x0", "1001x24", "80x24 ", "-1x24", "80X24",
                          "99999999999999999999x1"})
    cr_expect(!parse_size(bad).has_value(), "%s", bad);
}

Test(tui_keymap, no_key_is_there_twice) {
  std::map<Key, std::string> seen;
  for (Key digit = '1'; digit <= '9'; ++digit) seen[digit] = "view";
  for (const Binding& binding : bindings()) {
    if (binding.action == Action::kView) continue;
    for (const Key each : binding.keys) {
      if (each == 0) continue;
      const auto [at, fresh] = seen.try_emplace(each, binding.command);
      cr_expect(fresh, "%s is :%s and :%s", key_name(each).c_str(), at->second.c_str(), binding.command);
      cr_expect_eq(action_of(each), binding.action, "%s", binding.command);
    }
  }
  for (Key digit = '1'; digit <= '9'; ++digit) cr_expect_eq(action_of(digit), Action::kView);
  for (const Key nothing : {Key(0), Key('0'), Key('z'), Key(0x65e5), Key(key::kDelete)})
    cr_expect_eq(action_of(nothing), Action::kNone);
}

Test(tui_keymap, every_action_has_a_key_and_a_command_of_its_own) {
  std::set<Action> actions;
  std::set<std::string> commands;
  for (const Binding& binding : bindings()) {
    cr_expect(actions.insert(binding.action).second, "%s", binding.command);
    cr_expect(commands.insert(binding.command).second, "%s", binding.command);
    cr_expect_neq(binding.keys[0], 0u, "%s", binding.command);
    cr_expect_eq(find_binding(binding.command), &binding);
    cr_expect(*binding.help != '\0' && *binding.group != '\0');
  }
  for (auto action = uint8_t(Action::kNone) + 1; action <= uint8_t(Action::kSuspend); ++action)
    cr_expect(actions.contains(Action(action)), "action %d has no key", int(action));
  cr_expect_null(find_binding("nonsense"));
}

Test(tui_keymap, the_manual_has_every_key) {
  const std::string page = man_keys();
  for (const Binding& binding : bindings()) {
    cr_expect(page.find(std::string("Pq Ic :") + binding.command + "\n") != std::string::npos, "%s",
              binding.command);
    cr_expect(page.find(std::string(binding.help) + ".\n") != std::string::npos, "%s", binding.command);
  }
}
