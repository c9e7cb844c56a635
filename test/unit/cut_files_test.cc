// SPDX-License-Identifier: MIT
// Files that are shorter than the recorder noted, or missing, are damage; nothing else that a session may say
// of lengths is.
#include "viewer/load/cut_files.h"

#include <criterion/criterion.h>

#include <string>
#include <vector>

using namespace varve;
using load::FileLength;

namespace {

/// "FILE SENTENCE" of each damage, for a profile with the files a (10 bytes) and b (20 bytes).
std::vector<std::string> damages_of(std::vector<FileLength> lengths) {
  const load::MemorySource source(
      {{"a.agent", std::vector<uint8_t>(10)}, {"b.agent", std::vector<uint8_t>(20)}});
  std::vector<load::Damage> damages;
  load::find_cut_files(source, std::move(lengths), damages);
  std::vector<std::string> words;
  for (const load::Damage& damage : damages) words.push_back(damage.file + " " + damage.sentence);
  return words;
}

}  // namespace

Test(cut_files, whole_files_and_longer_ones_are_no_damage) {
  cr_expect(damages_of({}).empty());
  cr_expect(damages_of({{"a.agent", 10}, {"b.agent", 1}}).empty());
}

Test(cut_files, one_that_lost_its_end_and_one_that_is_gone_are_named) {
  const auto words = damages_of({{"b.agent", 21}, {"a.agent", 10}, {"gone.agent", 5}});
  cr_assert_eq(words.size(), 2);
  cr_expect_eq(words[0], "b.agent is cut off: 20 of 21 bytes are there");
  cr_expect_eq(words[1], "gone.agent is missing");
}

Test(cut_files, a_name_that_is_no_file_of_the_profile_is_not_opened) {
  const auto words = damages_of({{"../../etc/passwd", 1}, {"", 1}});
  cr_assert_eq(words.size(), 2);
  cr_expect_eq(words[0], " is missing");
  cr_expect_eq(words[1], "../../etc/passwd is missing");
}

Test(cut_files, a_file_that_is_named_often_is_told_once) {
  cr_expect_eq(damages_of({{"a.agent", 99}, {"a.agent", 98}, {"a.agent", 97}}).size(), 1);
}
