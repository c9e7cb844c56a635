// SPDX-License-Identifier: MIT
// Locks and waits: objects by how long threads waited for them, worst what idled processors; and below, who
// had them meanwhile. Or the same time by function, thread or call path. The waits that no hook saw are a
// row, so the column adds up to the Wait of threads. Context: viewer.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "viewer/analyze/fitted_waits.h"
#include "viewer/analyze/object_names.h"
#include "viewer/analyze/wait_objects.h"
#include "viewer/view/band_words.h"
#include "viewer/view/holder_list.h"
#include "viewer/view/make.h"
#include "viewer/view/path_words.h"
#include "viewer/view/rows.h"
#include "viewer/view/wait_lists.h"
#include "viewer/view/waits_words.h"

namespace varve::view {
namespace {

using analyze::WaitObject;

std::string top_holder(const Source& source, const ThreadNames& names, const WaitObject& object) {
  const std::vector<HolderRow> holders = holder_rows(source, {&object, 1});
  if (holders.empty()) return "";
  const auto& [_, holder, place, short_place] = holders.front();
  return names.of(holder.thread) + (place.empty() ? "" : ": ") + place;
}

/// Where the object was made; where no call was seen that did, where a thread first waited for it.
analyze::Caller made_at(const Source& source, const WaitObject& object) {
  if (object.key.creation == 0) return analyze::caller_of(source, object.first);
  return analyze::caller_of(source, source.profile.waits.creations[object.key.creation - 1].path);
}

/// Sorts the objects; returns how many of them have a row.
size_t add_object_table(View& view, const ShownWaits& shown, std::vector<WaitObject>& objects) {
  const Source& source = shown.source;
  const load::Profile& profile = source.profile;
  // In text the object stands last, where names have the most room.
  WaitTable table(view, shown,
                  {"waits",
                   "object",
                   "objects",
                   {{"", "First seen at", Unit::kText, false, 1, 4},
                    {"", "", Unit::kText},
                    {"object", "Object", Unit::kText},
                    {"type", "", Unit::kText},
                    {"created_at", "", Unit::kText}},
                   {{"top_holder", "", Unit::kText},
                    {"longest_ns", "", Unit::kTime},
                    {"threads", "", Unit::kCount},
                    {"pid", "", Unit::kNumber},
                    {"function", "", Unit::kText},
                    {"place", "", Unit::kText},
                    {"object_id", "", Unit::kNumber}},
                   2,
                   1});
  const ThreadNames names(profile);
  Places places(source);
  const auto kind_of = [&](const WaitObject& object) { return analyze::kind_of_many(profile, object.key); };
  const auto add_row = [&](const WaitObject& object) {
    const analyze::Caller caller = analyze::caller_of(source, object.first);
    const analyze::Caller maker = made_at(source, object);
    const std::string_view where = view.own(analyze::caller_words(source, maker));
    const FunctionCells function = function_cells(source, caller.function);
    table.add(
        {}, object,
        {where, view.own(analyze::short_caller_words(source, maker)),
         view.own(analyze::object_words(source, object.key)), analyze::kind_name(object.key.kind), where},
        {view.own(top_holder(source, names, object)), longest_cell(object), uint64_t(object.threads),
         pid_cell(profile, object.key.process),
         caller.function.valid() ? function.name : Cell(std::string_view()), places.of(caller.function, view),
         uint64_t(object.number)});
  };
  const size_t kept = table.fill(objects, add_row, kind_of);
  view.tables.push_back(std::move(table).table());
  return kept;
}

/// Which threads waited for each of the objects that are shown; only data and screens.
Table waiter_table(const ShownWaits& shown, std::span<const WaitObject> objects, View& view) {
  const load::Profile& profile = shown.source.profile;
  Table table;
  table.id = "waiters";
  table.title = "Threads that waited for it";
  table.only_data = true;
  table.columns = {{"wait_ns", "Wait", Unit::kTime},
                   {"wait_count", "Count", Unit::kCount, false, -1, 4},
                   {"", "Mean", Unit::kMean, false, -1, 2},
                   {"longest_ns", "", Unit::kTime},
                   {"", "Longest", Unit::kMean, false, -1, 1},
                   {"", "Utilization", Unit::kBar, false, -1, 3},
                   {"thread", "Thread", Unit::kText},
                   {"tid", "", Unit::kNumber},
                   {"object", "", Unit::kText},
                   {"object_id", "", Unit::kNumber}};
  const ThreadNames names(profile);
  for (const WaitObject& object : objects) {
    std::vector<analyze::CountedWait> own;
    for (const uint32_t index : object.counted) own.push_back(shown.passing[index]);
    auto threads = analyze::wait_groups(profile, own, [](const load::Wait& wait) { return wait.thread; });
    std::ranges::stable_sort(threads, std::greater(), &analyze::WaitSum::wait_ns);
    const std::string_view name = view.own(analyze::object_words(shown.source, object.key));
    for (const auto& sum : threads) {
      Bar bar;
      for (size_t band = 0; band < analyze::kBands; ++band)
        bar.parts[band] = share(sum.bands[band], std::max<uint64_t>(threads.front().wait_ns, 1));
      table.add({},
                {sum.wait_ns, sum.count, sum.count == 0 ? Cell() : Cell(sum.mean_ns()), longest_cell(sum),
                 longest_cell(sum), bar, view.own(names.of(sum.key)),
                 uint64_t(uint32_t(profile.threads[sum.key.index()].tid)), name, uint64_t(object.number)});
    }
  }
  return table;
}

void add_notes(const ShownWaits& shown, View& view) {
  const load::Profile& profile = shown.source.profile;
  if (shown.passing.empty() && shown.whole_ns != 0 && shown.filtered_ns == shown.whole_ns)
    view.notes.push_back("No wait passes the filter.");
  if (waits_are_off(profile)) view.notes.push_back(kWaitsOff);
  if (!profile.run_states.known())
    view.notes.push_back(source_words(profile) +
                         " So waits have no bands, and those that no hook saw are missing.");
}

uint64_t waited_ns(const std::vector<analyze::CountedWait>& waits) {
  uint64_t sum = 0;
  for (const analyze::CountedWait& each : waits) sum += each.time_ns;
  return sum;
}

}  // namespace

Made make_waits(const Source& source, const Request& request, const analyze::Selection&) {
  const load::Profile& profile = source.profile;
  const analyze::TimeRange range = analyze::time_range(profile, request.filter);
  const analyze::FittedWaits all = analyze::fitted_waits(profile, range, *source.concurrency);
  const auto passing = analyze::waits_that_pass(profile, source.symbols, request.filter, all.counted);
  const analyze::PassingRows passes(profile, source.symbols, request.filter);
  ShownWaits shown{source, request, passing, 0, {}, 0};
  shown.whole_ns = waited_ns(all.counted);
  for (uint32_t i = 0; i < all.others.size(); ++i) {
    shown.whole_ns += all.others[i].time_ns;
    if (passes.other_waits({i})) shown.others.add(all.others[i]);
  }
  shown.filtered_ns = shown.whole_ns - shown.others.time_ns - waited_ns(passing);

  View view;
  switch (request.by) {
    case By::kFunction:
      view.tables.push_back(wait_function_table(view, shown));
      break;
    case By::kThread:
      view.tables.push_back(wait_thread_table(view, shown));
      break;
    case By::kCallPath:
      view.tables.push_back(wait_path_table(view, shown));
      break;
    case By::kObject:
    case By::kUsual:
      std::vector<WaitObject> objects = analyze::wait_objects(profile, range, *source.concurrency, passing);
      const size_t kept = add_object_table(view, shown, objects);
      view.tables.push_back(holder_table(shown, objects, view));
      view.tables.push_back(waiter_table(shown, std::span(objects).first(kept), view));
  }
  add_notes(shown, view);
  return view;
}

}  // namespace varve::view
