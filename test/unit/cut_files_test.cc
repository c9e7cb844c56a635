// SPDX-License-Identifier: MIT
// Files that are shorter than the recorder noted, or missing, are damage; nothing else that a session may say
// of lengths is.
#include "viewer/load/cut_files.h"

#include <criterion/criterion.h>

#include <span>
#include <string>
#include <vector>

#include "common/session_keys.h"

using namespace varve;
using load::FileLength;

namespace {

/// "FILE SENTENCE" of each damage but those before, for a profile with the files a (10 bytes) and b (20
/// bytes) whose session noted so many lengths.
std::vector<std::string> damages_of(std::vector<FileLength> lengths, const char* noted = "0",
                                    std::vector<load::Damage> damages = {}) {
  const load::MemorySource source(
      {{"a.agent", std::vector<uint8_t>(10)}, {"b.agent", std::vector<uint8_t>(20)}});
  const size_t before = damages.size();
  load::Session session;
  session.texts.emplace_back(session_key::kFileLengths, noted);
  load::find_cut_files(source, session, std::move(lengths), damages);
  std::vector<std::string> words;
  for (const load::Damage& damage : std::span(damages).subspan(before))
    words.push_back(damage.file + " " + damage.sentence);
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

Test(cut_files, many_that_are_gone_are_one_damage) {
  const auto words = damages_of({{"c.agent", 5}, {"e.agent", 5}, {"d.agent", 5}});
  cr_assert_eq(words.size(), 1);
  cr_expect_eq(words[0], "c.agent is missing, and so are 2 other files of the run");
}

Test(cut_files, what_is_damaged_already_is_not_told_again) {
  cr_expect(damages_of({{"a.agent", 99}}, "1", {{"a.agent", "chunk 3 is cut off", 0}}).empty());
}

Test(cut_files, a_session_that_lost_lengths_has_lost_its_end) {
  cr_expect(damages_of({{"a.agent", 10}}, "1").empty());
  const auto words = damages_of({{"a.agent", 10}}, "2");
  cr_assert_eq(words.size(), 1);
  cr_expect_eq(words[0], "session has lost its end: it has 1 of 2 lengths of files");
}

Test(cut_files, a_name_that_is_no_file_of_the_profile_is_not_opened) {
  const auto words = damages_of({{"../../etc/passwd", 1}, {"../other/a.agent", 1}});
  cr_assert_eq(words.size(), 1);
  cr_expect_eq(words[0], "../../etc/passwd is missing, and so is another file of the run");
}

Test(cut_files, a_file_that_is_named_often_is_told_once) {
  cr_expect_eq(damages_of({{"a.agent", 99}, {"a.agent", 98}, {"a.agent", 97}}).size(), 1);
}
