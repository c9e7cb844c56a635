// SPDX-License-Identifier: MIT
// Names of files that say why a process has no other: what is read of them, and what is not one.
#include "viewer/load/refusals.h"

#include <criterion/criterion.h>

#include <cerrno>
#include <string>

using namespace varve;

Test(refusals, say_pid_what_and_why) {
  const auto refusal = load::refusal_of("my-own-host-1234-memory-12.refused");
  cr_assert(refusal.has_value());
  cr_expect_eq(refusal->pid, 1234);
  cr_expect_eq(refusal->what, format::Refused::kMemory);
  cr_expect_eq(refusal->error, ENOMEM);
  cr_expect_eq(load::refusal_words(*refusal),
               std::string("there was no memory for its first thread (Cannot allocate memory)"));
}

Test(refusals, every_word_of_the_agent_is_known) {
  for (const char* word : format::kRefusedWords)
    cr_expect(load::refusal_of(std::string("h-1-") + word + "-1.refused").has_value(), "%s", word);
}

Test(refusals, other_names_say_nothing) {
  for (const char* name :
       {"", ".refused", "-.refused", "h-1-file.refused", "h-1-file-.refused", "h--file-1.refused",
        "h-1-soup-1.refused", "h-x-file-1.refused", "h-1-file-1x.refused", "h-1-file--1.refused",
        "h-99999999999-file-1.refused", "h-1-file-1.refused.agent", "1-file-1.refused"})
    cr_expect_not(load::refusal_of(name).has_value(), "%s", name);
}
