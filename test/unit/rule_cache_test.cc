// SPDX-License-Identifier: MIT
// The rule cache: what goes in comes out, nothing else does, also under writers that race.
// Context: tests.
#include "agent/signal/rule_cache.h"

#include <criterion/criterion.h>

#include <memory>
#include <thread>
#include <vector>

using namespace varve::agent;

namespace {

struct Cache {
  std::unique_ptr<RuleCache::Entry[]> entries{new RuleCache::Entry[RuleCache::kEntries]()};
  RuleCache rules;
  Cache() { rules.init(entries.get(), nullptr); }
};

PackedRule frame(int64_t words) {
  PackedRule rule(Form::kOffset, 7);
  rule.set_cfa_words(words);
  return rule;
}

bool same(PackedRule a, PackedRule b) { return a.bits() == b.bits(); }

/// A rule that only this pc could have.
PackedRule rule_of(uint64_t pc) { return frame(int64_t(pc * 2654435761u % 100000)); }

}  // namespace

Test(rule_cache, empty_cache_knows_nothing) {
  Cache cache;
  for (uint64_t pc : {0ul, 1ul, 0x401000ul, 0x7fffffffffffu})
    cr_assert_eq(int(cache.rules.find(pc, 0).form()), int(Form::kNone));
}

Test(rule_cache, finds_what_was_put_in) {
  Cache cache;
  cache.rules.insert(0x401000, 0, frame(3));
  cr_assert(same(cache.rules.find(0x401000, 0), frame(3)));
  cr_assert_eq(int(cache.rules.find(0x401001, 0).form()), int(Form::kNone));
  cache.rules.insert(0x401000, 0, frame(4));
  cr_assert(same(cache.rules.find(0x401000, 0), frame(4)));
}

Test(rule_cache, never_answers_for_another_pc) {
  Cache cache;
  for (uint64_t pc = 0x400000; pc < 0x440000; ++pc) cache.rules.insert(pc, 0, rule_of(pc));
  size_t kept = 0;
  for (uint64_t pc = 0x400000; pc < 0x440000; ++pc) {
    const PackedRule rule = cache.rules.find(pc, 0);
    if (rule.form() == Form::kNone) continue;
    cr_assert(same(rule, rule_of(pc)));
    ++kept;
  }
  cr_assert_leq(kept, RuleCache::kEntries);
  cr_assert_gt(kept, RuleCache::kEntries / 2);
}

Test(rule_cache, invalidate_forgets) {
  Cache cache;
  const uint32_t before = cache.rules.generation();
  cache.rules.insert(0x401000, before, frame(3));
  cache.rules.invalidate();
  const uint32_t after = cache.rules.generation();
  cr_assert_neq(before, after);
  cr_assert_eq(int(cache.rules.find(0x401000, after).form()), int(Form::kNone));
  cache.rules.insert(0x402000, before, frame(5));  // by a walk that began before
  cr_assert_eq(int(cache.rules.find(0x402000, after).form()), int(Form::kNone));
}

Test(rule_cache, generations_that_come_round_find_nothing_old) {
  Cache cache;
  cache.rules.insert(0x401000, 0, frame(3));
  for (unsigned i = 0; i < 1u << 17; ++i) cache.rules.invalidate();
  cr_assert_eq(int(cache.rules.find(0x401000, cache.rules.generation()).form()), int(Form::kNone));
}

Test(rule_cache, torn_entries_match_nothing) {
  Cache cache;
  std::atomic<bool> stop{false};
  std::atomic<unsigned long> wrong{0}, right{0};
  std::vector<std::thread> threads;
  // Few enough addresses that all threads meet in the same entries.
  auto pc_at = [](uint64_t i) { return 0x400000 + i % 16 * (uint64_t{1} << 20) + i / 16 % 4; };
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = uint64_t(t) * 7; !stop.load(std::memory_order_relaxed); i += 5) {
        const uint64_t pc = pc_at(i);
        cache.rules.insert(pc, 0, rule_of(pc));
        const PackedRule rule = cache.rules.find(pc_at(i * 3), 0);
        if (rule.form() == Form::kNone) continue;
        (same(rule, rule_of(pc_at(i * 3))) ? right : wrong).fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  cr_assert_eq(wrong.load(), 0);
  cr_assert_gt(right.load(), 1000);
}

Test(packed_rule, fields_keep_their_values) {
  for (int64_t cfa : {-524288l, -1l, 0l, 1l, 524287l}) {
    for (int64_t slot : {-8190l, -2l, 0l, 8191l}) {
      PackedRule rule(Form::kLoad, 13);
      cr_assert(rule.set_cfa_words(cfa) && rule.set_rbp_words(slot) && rule.set_rbx_words(-slot / 2) &&
                rule.set_outer_words(-32));
      rule.keep_rest();
      cr_assert_eq(int(rule.form()), int(Form::kLoad));
      cr_assert_eq(rule.reg(), 13);
      cr_assert_eq(rule.cfa_words(), cfa);
      cr_assert_eq(rule.rbp_words(), slot);
      cr_assert_eq(rule.rbx_words(), -slot / 2);
      cr_assert_eq(rule.outer_words(), -32);
      cr_assert(rule.keeps_rest());
      cr_assert_not(rule.at_entry());
    }
  }
  PackedRule rule(Form::kOffset, 7);
  cr_assert_not(rule.set_cfa_words(524288));
  cr_assert_not(rule.set_rbp_words(-8193));
  cr_assert_not(rule.set_outer_words(32));
  cr_assert_eq(int(PackedRule::stop(varve::format::StackEnd::kUnsupported).stop_reason()),
               int(varve::format::StackEnd::kUnsupported));
}
