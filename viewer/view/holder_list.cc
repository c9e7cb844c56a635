// SPDX-License-Identifier: MIT
// See holder_list.h.
// Context: viewer.
#include "viewer/view/holder_list.h"

#include <algorithm>
#include <map>

#include "viewer/analyze/object_names.h"
#include "viewer/view/path_words.h"

namespace varve::view {

std::vector<HolderRow> holder_rows(const Source& source, std::span<const analyze::WaitObject> objects) {
  std::vector<HolderRow> rows;
  for (const analyze::WaitObject& object : objects) {
    std::map<std::pair<ThreadId, std::string>, size_t> known;
    for (const analyze::Holder& holder : object.holders) {
      const analyze::Caller caller = analyze::caller_of(source, holder.path);
      std::string place = analyze::caller_words(source, caller);
      const auto [at, fresh] = known.try_emplace({holder.thread, place}, rows.size());
      if (fresh) {
        rows.push_back({&object, holder, std::move(place), analyze::short_caller_words(source, caller)});
        continue;
      }
      analyze::Holder& sum = rows[at->second].holder;
      sum.caused_ns += holder.caused_ns;
      sum.releases += holder.releases;
      sum.most_waiters = std::max(sum.most_waiters, holder.most_waiters);
    }
  }
  std::ranges::stable_sort(rows, std::greater(), [](const HolderRow& row) { return row.holder.caused_ns; });
  return rows;
}

Table holder_table(const ShownWaits& shown, std::span<const analyze::WaitObject> objects, View& view) {
  const Source& source = shown.source;
  Table table;
  table.id = "holders";
  table.title = "Who ended these waits, and had the others wait meanwhile";
  table.columns = {{"caused_ns", "Caused", Unit::kTime},
                   {"caused_share", "Wait%", Unit::kShare, false, -1, 4},
                   {"releases", "Releases", Unit::kCount, false, -1, 2},
                   {"most_waiters", "Queue", Unit::kCount, false, -1, 3},
                   {"thread", "Thread", Unit::kText, false, -1, 6},
                   {"tid", "", Unit::kNumber},
                   {"place", "Released at", Unit::kText, false, 7},
                   {"", "", Unit::kText},
                   {"object", "Object", Unit::kText},
                   {"object_id", "", Unit::kNumber}};
  const ThreadNames names(source.profile);
  const std::vector<HolderRow> all = holder_rows(source, objects);
  table.only_data = all.empty();
  std::vector<uint64_t> sizes;
  for (const HolderRow& row : all) sizes.push_back(row.holder.caused_ns);
  const Cut cut = cut_list(sizes, shown.whole_ns, shown.request);
  for (const auto& [object, holder, place, short_place] : std::span(all).first(cut.kept)) {
    table.add({}, {holder.caused_ns, share(holder.caused_ns, shown.whole_ns), holder.releases,
                   uint64_t(holder.most_waiters), view.own(names.of(holder.thread)),
                   uint64_t(uint32_t(source.profile.threads[holder.thread.index()].tid)), view.own(place),
                   view.own(short_place), view.own(analyze::object_words(source, object->key)),
                   uint64_t(object->number)});
  }
  const auto add_sum = [&](RowKind kind, uint64_t ns, Cell releases, std::string label) {
    table.add({0, kind, false}, {ns,
                                 share(ns, shown.whole_ns),
                                 releases,
                                 {},
                                 std::string_view(),
                                 {},
                                 std::string_view(),
                                 std::string_view(),
                                 view.own(std::move(label)),
                                 {}});
  };
  uint64_t rest = 0, releases = 0;
  for (const HolderRow& row : std::span(all).subspan(cut.kept))
    rest += row.holder.caused_ns, releases += row.holder.releases;
  if (cut.below) add_sum(RowKind::kRest, rest, releases, cut.label);
  static constexpr std::string_view kUncaused[] = {"[timed out]", "[released, not yet running]",
                                                   "[only counted]", "[nobody seen]"};
  static_assert(std::size(kUncaused) == size_t(analyze::Uncaused::kCount));
  for (size_t reason = 0; reason < std::size(kUncaused); ++reason) {
    uint64_t sum = 0;
    for (const analyze::WaitObject& object : objects) sum += object.uncaused_ns[reason];
    if (sum > 0) add_sum(RowKind::kSpecial, sum, {}, std::string(kUncaused[reason]));
  }
  return table;
}

}  // namespace varve::view
