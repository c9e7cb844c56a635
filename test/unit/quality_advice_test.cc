// SPDX-License-Identifier: MIT
// What the quality view advises: symbols where names are missing, debug information where only lines are, and
// nothing where it would not help. Context: tests.
#include <criterion/criterion.h>

#include "test/unit/example_profile.h"
#include "viewer/view/request.h"

using namespace varve;

namespace {

bool advises(const test::RandomProfile& made, std::string_view words) {
  const view::Made quality = view::make(*view::find_kind("quality"), {made.profile, made.symbols}, {});
  for (const std::string& note : quality->notes)
    if (note.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace

Test(quality_advice, symbols_only_where_names_are_missing) {
  test::RandomProfile made = test::example_profile();
  cr_expect(advises(made, "Names: libstripped.so.2: no symbols: install its -dbgsym"));
  cr_expect(advises(made, "and use --debug-dir /usr/lib/debug"), "a finished profile looks there if told to");
  cr_expect_not(advises(made, "in libstripped.so.2"));
  for (symbol::Function& function : made.symbols.functions)
    if (function.source == symbol::NameSource::kAddress) function.source = symbol::NameSource::kSymbolTable;
  cr_expect_not(advises(made, "Names: "), "its functions have names, from its dynamic symbols");
  cr_expect(advises(made, "Source lines, which annotate shows, are not known in"));
}

Test(quality_advice, lines_only_where_they_are_missing) {
  test::RandomProfile made = test::example_profile();
  for (symbol::ModuleQuality& module : made.symbols.modules) module.has_dwarf = true;
  cr_expect_not(advises(made, "Source lines"));
}
